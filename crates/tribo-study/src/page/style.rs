//! The style of a page: one column that can be read on a telephone and on paper, light and dark.

/// The style of a page, without the colours of its charts.
pub const STYLE: &str = "\
:root{color-scheme:light dark;--ground:#ffffff;--ink:#222222;--muted:#5c6370;--line:#dfe1e5;--soft:#f5f6f8;--link:#0060a0;--good:#00724f;--fair:#8a5a00;--poor:#b23a00}
@media (prefers-color-scheme:dark){:root{--ground:#15181d;--ink:#e3e6ea;--muted:#9aa2ad;--line:#333942;--soft:#1d2128;--link:#6cbcf0;--good:#4fd0a0;--fair:#f0bb4a;--poor:#ff9a66}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:1100px;padding:1.2rem 1.4rem 4rem;background:var(--ground);color:var(--ink);font:16px/1.5 Helvetica,Arial,'DejaVu Sans',sans-serif}
h1{margin:.4rem 0;font-size:1.7rem}
h2{margin:2.4rem 0 .6rem;padding-top:.6rem;border-top:1px solid var(--line);font-size:1.25rem}
h3{margin:1.4rem 0 .4rem;font-size:1.05rem}
nav{color:var(--muted);line-height:1.9}
nav a{margin-right:.8rem}
a{color:var(--link)}
p{max-width:46rem;margin:.5rem 0}
.big{font-size:1.3rem}
.verdict{border-left:4px solid var(--muted);padding:.5rem .9rem;background:var(--soft)}
.verdict.good{border-color:var(--good)}.verdict.fair{border-color:var(--fair)}.verdict.poor{border-color:var(--poor)}
figure{margin:.8rem 0}
figure svg{max-width:100%;height:auto}
.side{display:flex;flex-wrap:wrap;gap:.6rem 1.2rem;align-items:flex-start}
.side figure{margin:.3rem 0;max-width:100%}
.wide{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;margin:.6rem 0;font-variant-numeric:tabular-nums}
th,td{padding:.25rem .8rem .25rem 0;border-bottom:1px solid var(--line);text-align:left;vertical-align:top}
td.n{text-align:right}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.2rem 1.2rem;margin:.6rem 0}
dt{color:var(--muted)}dd{margin:0;overflow-wrap:anywhere}
pre{background:var(--soft);padding:.7rem .9rem;overflow-x:auto;font-size:.85rem;line-height:1.4}
summary{cursor:pointer;margin:.6rem 0}
@media (max-width:640px){dl{grid-template-columns:1fr}dt{margin-top:.4rem}.large{overflow-x:auto}.large svg{max-width:none;width:580px}}
@media print{nav{display:none}h2{break-after:avoid}figure{break-inside:avoid}}
";
