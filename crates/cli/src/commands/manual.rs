//! Prints help pages, manual pages and shell completions. All of them are generated from the
//! command line's definition.

use clap_complete::Shell;

use crate::args::{TOPICS, command};
use crate::base::failure::{Failure, Result};
use crate::output::Output;

/// Prints the page of a topic or a command.
pub(crate) fn help(words: &[String], output: &mut Output<'_>) -> Result<()> {
    if let [word] = words
        && let Some((_, text)) = TOPICS.iter().find(|(name, _)| name == word)
    {
        return output.line(text);
    }
    let page = found(words)?.render_long_help().to_string();
    output.write(page.as_bytes())
}

/// Prints a manual page in roff, the markup of `man`.
pub(crate) fn man(words: &[String], output: &mut Output<'_>) -> Result<()> {
    let mut page = Vec::new();
    let rendered = clap_mangen::Man::new(found(words)?).render(&mut page);
    rendered.map_err(|error| Failure::output(output.name(), &error))?;
    output.write(&page)
}

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell, output: &mut Output<'_>) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "herringbone", &mut text);
    output.write(&text)
}

/// Returns a command's definition by its words, such as `bloom check`.
fn found(words: &[String]) -> Result<clap::Command> {
    let mut found = command();
    found.build();
    for word in words {
        let next = found.find_subcommand(word).cloned();
        found = next.ok_or_else(|| {
            let topics: Vec<&str> = TOPICS.iter().map(|(name, _)| *name).collect();
            Failure::Usage(format!(
                "there is no command or topic `{word}`; the topics are {}; `herringbone help` lists the commands",
                topics.join(", ")
            ))
        })?;
    }
    Ok(found)
}
