//! Making text safe and fitting for a terminal.
