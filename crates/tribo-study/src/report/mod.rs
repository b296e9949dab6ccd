//! Numbers and tables from the journal, for people and for programs.
