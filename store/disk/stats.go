package disk

// Stats describes the resources of this process that a Store holds.
type Stats struct {
	// Mappings is the number of files mapped for returned payloads, and Mapped their bytes:
	// at most a quarter of the cap, and at most 2 GiB. A mapping ends when the garbage
	// collector finds none of its payloads in use. Beyond the bound, payloads are read into
	// memory.
	Mappings int
	Mapped   int64
	// Removed is how many of the mapped bytes belong to files removed since. They take
	// space until their mapping ends, and count towards the cap.
	Removed int64
	// Files is the number of open files: packs and lock files.
	Files int
}

// Stats may be called at any time, also after Close: payloads stay valid.
func (s *Store) Stats() Stats {
	st := Stats{Removed: s.mapped.Removed(), Files: s.directory.files() + s.writer.files() + s.leases.files() + s.files.Files()}
	st.Mappings, st.Mapped = s.mapped.Count()
	return st
}
