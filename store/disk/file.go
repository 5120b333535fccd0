package disk

// File implements [store.FileBacked].
func (s *Store) File(payload []byte) (path string, ok bool) { return s.mapped.File(payload) }
