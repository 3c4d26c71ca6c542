//! `browse` is an interactive viewer for a file in the terminal.
//!
//! ```text
//! keys ─► model ─► need ─► worker (reads) ─► answer ─► model ─► draw ─► terminal
//! ```
//!
//! The state is `model` with its parts (`facts`, `grid`, `panel`, `need`). Keys and answers change
//! the state, but nothing in it reads a file or draws, so that tests can drive it without a
//! terminal. `reads` answers needs on a thread started by `worker`. `draw` turns the state into a
//! screen. `terminal` takes over the terminal and restores it in the end.

mod draw;
mod facts;
mod grid;
mod help;
mod model;
mod need;
mod panel;
mod reads;
mod terminal;
mod text;
mod worker;

#[cfg(test)]
mod tests;

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::crossterm::event;

use crate::args::Browse;
use crate::base::failure::{Failure, Result};
use crate::input::context::Context;
use crate::input::import::Import;
use crate::input::{self, Opening};
use crate::output::has_colors;
use draw::Look;
use model::Model;
use need::{Need, Reply};
use reads::Reads;
use terminal::Screen;
use worker::Worker;

/// The time to wait for a screen's rows before drawing it without them.
const PATIENCE: Duration = Duration::from_millis(40);

/// An event for the viewer to handle.
enum Event {
    Terminal(io::Result<event::Event>),
    Answer(Need, Reply),
    /// The progress of a read in percent.
    Progress(Need, u8),
    WorkerEnded,
}

/// Shows a file, or the files in a directory, until the user leaves.
pub(crate) fn run(context: &Context, browse: &Browse) -> Result<()> {
    check_terminal(&browse.file)?;
    let opening = Opening {
        import: Some(Import::of(context, &browse.other_files, None)?),
        ..Opening::default()
    };
    let file = std::slice::from_ref(&browse.file);
    let inputs = input::each_table(file, &opening, context)?;
    let (reads, facts) = Reads::open(inputs)?;
    let failed = |error: io::Error| Failure::System(format!("the terminal: {error}"));
    let (events, happened) = mpsc::channel();
    let worker = Worker::start(reads, events.clone()).map_err(failed)?;
    let mut screen = Screen::take().map_err(failed)?;
    let model = Model::new(facts, screen.size().map_err(failed)?);
    listen(events).map_err(failed)?;
    let end = follow(model, &worker, &happened, &mut screen);
    drop(screen);
    end
}

/// Checks that there is a screen and a keyboard.
fn check_terminal(path: &Path) -> Result<()> {
    let what = if !io::stdout().is_terminal() {
        "standard output is not one"
    } else if !io::stdin().is_terminal() {
        "standard input is not one"
    } else if path.as_os_str() == "-" {
        "it reads keys from standard input, so the rows must come from a file"
    } else {
        return Ok(());
    };
    let path = crate::base::url::name_of(path);
    Err(Failure::Usage(format!(
        "browse needs a terminal, and {what}; `herringbone show {path}` prints a summary and the first rows, and \
         `herringbone cat {path}` prints all rows"
    )))
}

/// Starts the thread that waits for keys.
fn listen(events: Sender<Event>) -> io::Result<()> {
    let wait = move || {
        loop {
            let event = event::read();
            let is_last = event.is_err();
            if events.send(Event::Terminal(event)).is_err() || is_last {
                return;
            }
        }
    };
    thread::Builder::new().spawn(wait).map(|_| ())
}

/// Handles all events until the user leaves.
fn follow(
    mut model: Model,
    worker: &Worker,
    happened: &Receiver<Event>,
    screen: &mut Screen,
) -> Result<()> {
    let failed = |error: io::Error| Failure::System(format!("the terminal: {error}"));
    let has_colors = has_colors();
    let mut asked: Option<Need> = None;
    let mut percent = None;
    // The time of the oldest change not yet on the screen.
    let mut changed = Some(Instant::now());
    while !model.has_ended {
        let need = model.need();
        if need != asked {
            worker.ask(need.clone());
            (asked, percent) = (need, None);
        }
        let is_waiting = asked.is_some();
        let patience = changed.map(|since| match is_waiting {
            true => PATIENCE.saturating_sub(since.elapsed()),
            false => Duration::ZERO,
        });
        let event = match patience {
            Some(patience) => happened.recv_timeout(patience),
            None => happened.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match event {
            Ok(event) => {
                if let Event::Answer(need, _) = &event
                    && asked.as_ref() == Some(need)
                {
                    asked = None;
                }
                if let Event::Progress(need, done) = &event
                    && asked.as_ref() == Some(need)
                {
                    percent = Some(*done);
                }
                handle(&mut model, event)?;
                if let Some(text) = model.copied.take() {
                    screen.copy(&text).map_err(failed)?;
                }
                changed.get_or_insert_with(Instant::now);
            }
            Err(RecvTimeoutError::Timeout) => {
                let look = Look {
                    has_colors,
                    is_waiting,
                    percent,
                };
                screen.draw(&model, look).map_err(failed)?;
                changed = None;
            }
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
    Ok(())
}

/// Handles one event.
fn handle(model: &mut Model, event: Event) -> Result<()> {
    match event {
        Event::Answer(need, reply) => model.answer(need, reply),
        Event::Terminal(Ok(event::Event::Key(key))) => {
            if key.kind != event::KeyEventKind::Release {
                model.key(key);
            }
        }
        Event::Terminal(Ok(event::Event::Resize(width, height))) => model.resize((width, height)),
        Event::Terminal(Ok(_)) | Event::Progress(..) => {}
        Event::Terminal(Err(error)) => {
            return Err(Failure::System(format!("the keyboard: {error}")));
        }
        // The worker has panicked and already printed a message.
        Event::WorkerEnded => return Err(Failure::Told(Failure::SYSTEM)),
    }
    Ok(())
}
