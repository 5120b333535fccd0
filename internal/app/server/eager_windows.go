package server

import "os"

// An eagerReader reads a connection.
type eagerReader struct{ *os.File }

func newEagerReader(file *os.File) (*eagerReader, error) { return &eagerReader{file}, nil }

// hasten does nothing here.
func (r *eagerReader) hasten() {}
