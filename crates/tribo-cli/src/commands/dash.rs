//! `tribo dash`: studies in a browser, live.

use crate::failure::{Failure, OK, Outcome};
use crate::output;
use clap::Args;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::path::PathBuf;
use tribo_dash::{Address, Dash};
use tribo_study::layout::{Layout, shell_word};

/// The port of the reader's own machine, where a socket is forwarded to.
const THERE: u16 = 8080;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Study files, stores, or folders with study.toml.
    #[arg(default_value = ".", hide_default_value = true, value_name = "STUDY")]
    studies: Vec<PathBuf>,
    /// Listen on this port of this machine, and not on any that is free.
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Listen on a socket file instead, which no other user of this machine can open.
    #[arg(long, value_name = "PATH", conflicts_with = "port")]
    socket: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let layouts: Vec<Layout> = options.studies.iter().map(|path| Layout::of(path)).collect();
    let address = match &options.socket {
        Some(path) => Address::Socket(path.clone()),
        None => Address::Port(options.port.unwrap_or(0)),
    };
    let dash = Dash::open(&layouts, &address)?;
    let stopper = dash.stopper();
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP]).map_err(cannot_wait)?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || signals.forever().for_each(|_| stopper.stop()))
        .map_err(cannot_wait)?;
    let (host, port, tunnel) = match dash.address() {
        Address::Port(port) => ("127.0.0.1", *port, format!("{port}:127.0.0.1:{port}")),
        Address::Socket(path) => {
            let path = std::path::absolute(path).unwrap_or(path.clone());
            ("localhost", THERE, format!("{THERE}:{}", shell_word(&path)))
        }
    };
    let link = dash.link();
    output::print(&format!("{}\n", link.text(host, port)))?;
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let when = if options.socket.is_some() {
        "first, where your browser is"
    } else {
        "if your browser is elsewhere"
    };
    output::note(&format!(
        "open this link in a browser, it is good once; {when}: ssh -N -L {tunnel} {name}\n\
         Ctrl-C ends the page, and nothing else"
    ));
    dash.run(move || {
        output::note(&format!("the link was used; for another browser: {}", link.text(host, port)))
    })?;
    Ok(OK)
}

fn cannot_wait(error: std::io::Error) -> Failure {
    Failure::usage(format!("cannot wait for signals: {error}"))
}
