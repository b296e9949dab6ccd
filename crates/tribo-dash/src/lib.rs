//! The live page of studies: what the report shows, as it happens, in a browser.
//!
//! It reads journals and the files of attempts, and writes nothing: whoever drives a study, here or on another host, is not
//! disturbed. It is for one person: a `door` lets in who has the link that was printed, `guard` refuses what a foreign web
//! page could send, and there is nothing to change behind either.
//!
//! ```text
//! following   a study: its journal as it grows, parts of pages made anew, the model beside
//! parts       the parts: a piece of HTML with a revision each
//! pages       parts and forms put together: overview, model, trials, a trial, machine, all studies
//! guard       host, origin and method of a request
//! door        a link for one use, then a cookie
//! route       which page a path means; paths are made of ids, never of names
//! events      which parts have changed, sent to open pages
//! server      connections and their limits
//! ```
//!
//! Pages are whole without a script. The script swaps parts that have changed, and sends where sliders stand.

mod door;
mod events;
mod following;
mod guard;
mod pages;
mod parts;
mod response;
mod route;
mod server;

pub use server::{Address, Dash, Link, Stop};
