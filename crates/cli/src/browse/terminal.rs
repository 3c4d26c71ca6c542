//! Takes over the terminal for the viewer, and gives it back as it was before.

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

/// True while the viewer has the terminal. It is static, because a panic hook and a signal handler
/// need it.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal. It is given back when this is dropped, and also in a panic and on a signal,
/// because the user's shell would be unusable otherwise.
pub(super) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    /// Takes over the terminal.
    ///
    /// # Errors
    /// Fails if the terminal does.
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
        // `Terminal::clear` would ask the terminal where its cursor is, and some terminals do not
        // answer this.
        execute!(io::stdout(), EnterAlternateScreen, Clear(ClearType::All))?;
        Ok(screen)
    }

    /// Returns the terminal's size in columns and lines.
    ///
    /// # Errors
    /// Fails if the terminal does.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        self.terminal.size().map(|size| (size.width, size.height))
    }

    /// Puts a text into the terminal's clipboard by the sequence OSC 52. A terminal that does not
    /// know the sequence ignores it.
    ///
    /// # Errors
    /// Fails if the terminal does.
    pub(super) fn copy(&self, text: &str) -> io::Result<()> {
        if IS_TAKEN.load(Ordering::SeqCst) {
            let text = BASE64_STANDARD.encode(text);
            execute!(io::stdout(), Print(format!("\x1b]52;c;{text}\x07")))?;
        }
        Ok(())
    }

    /// Draws the state, unless the terminal has already been given back.
    ///
    /// # Errors
    /// Fails if the terminal does.
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

/// Gives the terminal back as it was. Errors are ignored, because there is no place left to show
/// them.
fn give_back() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        execute!(io::stdout(), LeaveAlternateScreen, Show).ok();
        disable_raw_mode().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `browse.sh` runs this test in a terminal, and then checks that the terminal is as it was
    /// before.
    #[test]
    #[ignore = "needs a terminal"]
    fn a_panic_gives_the_terminal_back() {
        let screen = Screen::take().unwrap();
        assert_eq!(screen.size().unwrap().0, 0, "a panic for the test");
    }
}
