//! Includes of nginx: which files, in which order, under which parent.
