package disk

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// maxMappings bounds the files mapped by this process. Mappings are never
// removed, because payloads may refer to them; beyond the bound, files are
// read.
const maxMappings = 8192

// mappings are all files this process has mapped. A mapped file keeps its
// identity as long as it is mapped, so that one found here is the same file.
var mappings struct {
	mu   sync.Mutex
	data map[fileID][]byte
}

// mapFile returns the content of a regular file that is size bytes long, if
// possible without a copy.
func mapFile(path string, size int64) (data []byte, mapped bool, err error) {
	id, err := identify(path)
	if err != nil {
		return nil, false, err
	}
	if err := id.check(size); err != nil {
		return nil, false, err
	}
	mappings.mu.Lock()
	data, mapped = mappings.data[id]
	full := len(mappings.data) >= maxMappings
	mappings.mu.Unlock()
	if mapped {
		return data, true, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = f.Close() }() // only read
	if id, err = identifyOpen(f); err != nil {
		return nil, false, err
	}
	if err := id.check(size); err != nil {
		return nil, false, err
	}
	if !full && size > 0 {
		if data, err := mapOnce(f, id); err == nil {
			return data, true, nil
		}
	}
	data = make([]byte, size) // the file is as long: checked above
	_, err = io.ReadFull(f, data)
	return data, false, err
}

// mapOnce maps f, which is the file id, unless another goroutine just did.
func mapOnce(f *os.File, id fileID) ([]byte, error) {
	data, err := mapOpen(f, id.size, true) // may read the whole file: not locked
	if err != nil {
		return nil, err
	}
	mappings.mu.Lock()
	defer mappings.mu.Unlock()
	if first, ok := mappings.data[id]; ok {
		return first, unmap(data) // nobody has seen data
	}
	if mappings.data == nil {
		mappings.data = make(map[fileID][]byte)
	}
	mappings.data[id] = data
	return data, nil
}

// check keeps a reader from memory beyond the end of a file, which kills it.
func (id fileID) check(size int64) error {
	switch {
	case !id.regular:
		return fmt.Errorf("%w: not a regular file", errDamaged)
	case id.size != size:
		return fmt.Errorf("%w: %d bytes, not %d", errDamaged, id.size, size)
	}
	return nil
}
