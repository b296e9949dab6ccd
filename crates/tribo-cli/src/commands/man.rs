//! `tribo man`: manual pages, from the same list as the help.

use crate::args::Arguments;
use crate::failure::{OK, Outcome};
use crate::output;
use clap::{Args, CommandFactory};
use clap_mangen::Man;
use std::fs;
use std::path::PathBuf;
use tribo_study::Error;

#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Folder to write one page for each command into; without it, the page of tribo is printed.
    folder: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> Outcome {
    let mut command = Arguments::command();
    command.build();
    let Some(folder) = &options.folder else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        output::print(&String::from_utf8_lossy(&page))?;
        return Ok(OK);
    };
    fs::create_dir_all(folder).map_err(Error::io("cannot make the folder", folder))?;
    let mut pages = vec![("tribo".to_owned(), command.clone())];
    for subcommand in command.get_subcommands().filter(|one| !one.is_hide_set() && one.get_name() != "help") {
        pages.push((format!("tribo-{}", subcommand.get_name()), subcommand.clone()));
    }
    for (name, command) in &pages {
        let mut page = Vec::new();
        Man::new(command.clone()).title(name.clone()).render(&mut page)?;
        let path = folder.join(format!("{name}.1"));
        fs::write(&path, page).map_err(Error::io("cannot write", &path))?;
    }
    output::note(&format!("{} pages are in {}", pages.len(), folder.display()));
    Ok(OK)
}
