//! The page that explains the keys.

/// The keys, in lines that fit a terminal of 40 columns.
pub(super) const KEYS: &str = "\
q           close a page, or quit
Ctrl-C      quit
Esc         cancel a read, close a page
?           this page

Rows
arrows      move (also h j k l)
PgUp, PgDn  move by a screen (b, space)
Home, End   first and last row (g, G)
^, $        first and last column
: or digit  jump to a row, from 0
/           search: a condition in SQL,
            such as fare > 5 (see
            `herringbone help where`)
n, N        next match, match before
Enter       the cell in full
y           copy the cell
<, >        file before, file after
r           read the rows again

About the column with the cursor
s           statistics, r of all values
f           most frequent values
p           pages; [ and ] change the
            row group
t           schema tree: s, f, p and
            Enter work on its fields";
