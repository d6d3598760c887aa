// The registry of collectors: a new one is one file and one line here.
export {}
