//! Tracks a column's kind in each candidate notation.

use super::dialect::Notation;
use super::kind::Kind;

/// A column's kind so far, per candidate notation.
#[derive(Debug, Clone)]
pub(super) struct Look {
    /// The column's kind in each notation.
    kinds: Vec<Kind>,
    /// The column's kind if each field could have its own notation.
    mixed: Kind,
    /// True if some field is a different date in another notation, as 01/02/2024 can be.
    is_ambiguous: bool,
}

impl Look {
    /// Creates the kinds of a column without fields.
    pub(super) fn new(notations: &[Notation]) -> Self {
        Self {
            kinds: vec![Kind::Nothing; notations.len()],
            mixed: Kind::Nothing,
            is_ambiguous: false,
        }
    }

    /// Adds a text field.
    pub(super) fn text(&mut self) {
        self.kinds.fill(Kind::Text);
        self.mixed = Kind::Text;
    }

    /// Adds a field of any kind.
    pub(super) fn add(&mut self, text: &str, notations: &[Notation]) {
        if self.mixed == Kind::Text {
            return;
        }
        for (kind, notation) in self.kinds.iter_mut().zip(notations) {
            if *kind != Kind::Text {
                *kind = kind.with(notation.kind(text));
            }
        }
        let [only] = self.kinds.as_slice() else {
            let mut dates = notations.iter().filter_map(|notation| notation.date(text));
            let first = dates.next();
            self.is_ambiguous |= dates.any(|date| Some(date) != first);
            let kind = match (&first, notations.first()) {
                (Some(date), _) => Kind::of(date),
                (None, Some(notation)) => notation.kind(text),
                (None, None) => Kind::Text,
            };
            self.mixed = self.mixed.with(kind);
            return;
        };
        self.mixed = *only;
    }

    /// Returns the index of the first notation that fits all fields, falling back to the first
    /// notation.
    pub(super) fn notation(&self) -> usize {
        let mut kinds = self.kinds.iter();
        kinds.position(|kind| *kind != Kind::Text).unwrap_or(0)
    }

    /// Returns the column's kind in the chosen notation.
    pub(super) fn kind(&self) -> Kind {
        self.kinds
            .get(self.notation())
            .copied()
            .unwrap_or(Kind::Text)
    }

    /// Returns a note if the column's dates are ambiguous or need several formats.
    pub(super) fn note(&self, notations: &[Notation]) -> Option<String> {
        if self.kind() == Kind::Text {
            let is_mixed = self.mixed.is_temporal();
            return is_mixed.then(|| {
                "is text, because no single --date-format fits all of its dates".to_owned()
            });
        }
        let fitting = self.kinds.iter().zip(notations);
        let fitting = fitting.filter(|(kind, _)| kind.is_temporal());
        let formats: Vec<&str> = fitting
            .filter_map(|(_, notation)| notation.date.as_ref())
            .map(super::DateFormat::text)
            .collect();
        let [first, others @ ..] = formats.as_slice() else {
            return None;
        };
        (self.is_ambiguous && !others.is_empty()).then(|| {
            format!(
                "has dates that are read as `{first}`, but `{}` fits them, too",
                others.join("`, `")
            )
        })
    }
}
