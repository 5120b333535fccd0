package disk

// Stats says what a Store holds of the process that uses it.
type Stats struct {
	// Mappings is how many files are mapped for payloads that were handed out,
	// and Mapped how many bytes they have: at most a quarter of the cap, and
	// 2 GiB. A mapping ends when the garbage collector finds that no payload of
	// it is in use. Beyond the bound, payloads are read into memory.
	Mappings int
	Mapped   int64
	// Removed is how many of the mapped bytes belong to files that were removed
	// since. They take room until they are let go, and count towards the cap.
	Removed int64
	// Files is how many files are open: packs, and those that are locked.
	Files int
}

// Stats may be called at any time, also after Close: payloads stay valid.
func (s *Store) Stats() Stats {
	st := Stats{Removed: s.mapped.Removed(), Files: s.folder.files() + s.writer.files() + s.leases.files() + s.files.Files()}
	st.Mappings, st.Mapped = s.mapped.Count()
	return st
}
