//! A scene on a terminal of any size: what does not fit is left out, from the bottom.

use super::scene::{Curve, Scene};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::symbols::Marker;
use ratatui::text::Line;
use ratatui::widgets::{Axis, Block, Borders, Chart, Dataset, GraphType, LineGauge, Paragraph, Wrap};

/// Narrower screens have everything in one column.
const WIDE: u16 = 76;
/// A list shows at least that many lines.
const LIST: u16 = 4;

const STRONG: Style = Style::new().add_modifier(Modifier::BOLD);
const FAINT: Style = Style::new().fg(Color::DarkGray);

/// Draws all of it.
pub(super) fn draw(frame: &mut Frame<'_>, scene: &Scene) {
    let [title, progress, middle, lists, now, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(1),
        Constraint::Min(3),
        Constraint::Length(list_height(scene, frame.area())),
        Constraint::Length(scene.now.len().min(3) as u16 + 1),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Line::styled(scene.title.as_str(), STRONG), title);
    draw_progress(frame, scene, progress);
    if frame.area().width >= WIDE {
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(62), Constraint::Percentage(38)]).areas(middle);
        draw_curve(frame, scene.curve.as_ref(), left);
        draw_list(frame, "best", &scene.best, right);
        let [left, right] =
            Layout::horizontal([Constraint::Percentage(38), Constraint::Percentage(62)]).areas(lists);
        draw_list(frame, "under way", &scene.workers, left);
        draw_list(frame, "last failures", &scene.failures, right);
    } else {
        let [above, below] = Layout::vertical([Constraint::Min(4), Constraint::Max(LIST)]).areas(middle);
        draw_curve(frame, scene.curve.as_ref(), above);
        draw_list(frame, "best", &scene.best, below);
        let [above, below] =
            Layout::vertical([Constraint::Percentage(50), Constraint::Percentage(50)]).areas(lists);
        draw_list(frame, "under way", &scene.workers, above);
        draw_list(frame, "last failures", &scene.failures, below);
    }
    draw_list(frame, "now", &scene.now, now);
    frame.render_widget(Line::styled("q leaves; the study goes on", FAINT), keys);
}

/// Rows for what is under way and what failed, beside or below each other: a third of the screen at most.
fn list_height(scene: &Scene, area: Rect) -> u16 {
    let rows = |lines: &[String]| lines.len().clamp(1, 20) as u16 + 1;
    let (workers, failures) = (rows(&scene.workers), rows(&scene.failures));
    let wanted = if area.width >= WIDE { workers.max(failures) } else { 2 * workers.max(failures) };
    wanted.min((area.height / 3).max(LIST))
}

fn draw_progress(frame: &mut Frame<'_>, scene: &Scene, area: Rect) {
    let Some(done) = scene.done else {
        frame.render_widget(Line::from(scene.progress.as_str()), area);
        return;
    };
    let width = scene.progress.chars().count() as u16 + 2;
    let [text, bar] = Layout::horizontal([Constraint::Length(width), Constraint::Min(0)]).areas(area);
    frame.render_widget(Line::from(scene.progress.as_str()), text);
    let gauge = LineGauge::default()
        .ratio(done)
        .label(format!("{:.0} %", 100.0 * done))
        .filled_style(Style::new().fg(Color::Green))
        .unfilled_style(FAINT);
    frame.render_widget(gauge, bar);
}

fn draw_list(frame: &mut Frame<'_>, title: &str, lines: &[String], area: Rect) {
    let block = Block::new().borders(Borders::TOP).border_style(FAINT).title(title).title_style(STRONG);
    let empty = [String::from("none")];
    let lines = if lines.is_empty() { &empty[..] } else { lines };
    let lines: Vec<Line<'_>> = lines.iter().map(|line| Line::from(line.as_str())).collect();
    let text = Paragraph::new(lines).block(block);
    // Only words are worth a second line.
    let text = if title == "now" { text.wrap(Wrap { trim: true }) } else { text };
    frame.render_widget(text, area);
}

fn draw_curve(frame: &mut Frame<'_>, curve: Option<&Curve>, area: Rect) {
    let block =
        Block::new().borders(Borders::TOP).border_style(FAINT).title("convergence").title_style(STRONG);
    let Some(curve) = curve else {
        frame.render_widget(Paragraph::new("no value yet").block(block), area);
        return;
    };
    let last = curve.x[1];
    let chart = Chart::new(vec![
        Dataset::default().marker(Marker::Dot).style(FAINT).data(&curve.values),
        Dataset::default()
            .marker(Marker::Braille)
            .graph_type(GraphType::Line)
            .style(Style::new().fg(Color::Green))
            .data(&curve.best),
    ])
    .x_axis(Axis::default().bounds(curve.x).labels(["1".to_owned(), format!("{last:.0} trials")]))
    .y_axis(Axis::default().bounds(curve.y).labels(curve.labels.clone()))
    .block(block);
    frame.render_widget(chart, area);
}
