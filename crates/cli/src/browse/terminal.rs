//! The terminal as the viewer takes it, and as it was before.

use std::io::{self, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use base64::prelude::{BASE64_STANDARD, Engine as _};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::style::Print;
use ratatui::crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::draw::{Look, draw};
use super::model::Model;
use crate::save::interrupt::{Unfinished, uninterrupted, watch};

/// True while the viewer has the terminal.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal, which is given back when this is dropped, in a panic, and by a signal.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// Errors of the terminal.
    pub(super) fn take() -> io::Result<Self> {
        static HOOK: Once = Once::new();
        HOOK.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                give_back();
                before(panic);
            }));
        });
        let terminal = Terminal::new(CrosstermBackend::new(io::stdout()))?;
        uninterrupted(|record| record.unfinished = Some(Unfinished::Screen(give_back)));
        watch()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let screen = Self { terminal };
        enable_raw_mode()?;
        // `Terminal::clear` would ask the terminal for its cursor, which some terminals do not answer.
        execute!(io::stdout(), EnterAlternateScreen, Clear(ClearType::All))?;
        Ok(screen)
    }

    /// Returns the size of the terminal in columns and lines.
    ///
    /// # Errors
    /// Errors of the terminal.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }

    /// Puts a text into the clipboard of the terminal, by the sequence OSC 52. Terminals without it ignore it.
    ///
    /// # Errors
    /// Errors of the terminal.
    pub(super) fn copy(&self, text: &str) -> io::Result<()> {
        if IS_TAKEN.load(Ordering::SeqCst) {
            let text = BASE64_STANDARD.encode(text);
            execute!(io::stdout(), Print(format!("\x1b]52;c;{text}\x07")))?;
        }
        Ok(())
    }

    /// Draws the state, unless the terminal has been given back.
    ///
    /// # Errors
    /// Errors of the terminal.
    pub(super) fn draw(&mut self, model: &Model, look: Look) -> io::Result<()> {
        if IS_TAKEN.load(Ordering::SeqCst) {
            self.terminal
                .draw(|frame| draw(model, look, frame.buffer_mut()))?;
        }
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
        uninterrupted(|record| record.unfinished = None);
    }
}

/// Gives the terminal back as it was. Errors are ignored, because nothing could show them.
fn give_back() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        execute!(io::stdout(), LeaveAlternateScreen, Show).ok();
        disable_raw_mode().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `browse.sh` runs this test in a terminal, which must be as before afterwards.
    #[test]
    #[ignore = "needs a terminal"]
    fn a_panic_gives_the_terminal_back() {
        let screen = Screen::take().unwrap();
        assert_eq!(screen.size().unwrap().0, 0, "a panic for the test");
    }
}
