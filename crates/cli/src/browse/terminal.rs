//! Takes over the terminal for the viewer and restores it afterwards.

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

/// The terminal. Dropping this restores it, and so do panics and signals, because otherwise the
/// user's shell would be left unusable.
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
        // Don't use `Terminal::clear` here. It queries the cursor position, and some terminals
        // don't answer that.
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

    /// Copies text to the terminal's clipboard with an OSC 52 sequence. Terminals without support
    /// ignore it.
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

    /// Draws the state, unless the terminal has already been restored.
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

/// Restores the terminal. We ignore errors, since there is no place left to show them.
fn give_back() {
    if IS_TAKEN.swap(false, Ordering::SeqCst) {
        execute!(io::stdout(), LeaveAlternateScreen, Show).ok();
        disable_raw_mode().ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `browse.sh` runs this test in a terminal and then checks that the terminal was restored.
    #[test]
    #[ignore = "needs a terminal"]
    fn a_panic_gives_the_terminal_back() {
        let screen = Screen::take().unwrap();
        assert_eq!(screen.size().unwrap().0, 0, "a panic for the test");
    }
}
