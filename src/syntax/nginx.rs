//! nginx's grammar, exactly as nginx reads it.
