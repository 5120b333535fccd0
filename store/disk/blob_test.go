//go:build unix

package disk

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk/internal/vfs"
	"github.com/larder-data/larder/store/storetest"
)

// TestEqualPayloadsAreOneFile puts payloads of one piece and of several twice. The second is stored already, however
// much of it was written before that is known.
func TestEqualPayloadsAreOneFile(t *testing.T) {
	dir := t.TempDir()
	s := open(t, Options{Dir: dir, BlobBytes: 1 << 10})
	for i, size := range []int{1 << 10, writePiece, 20*writePiece + 1} {
		payload := storetest.Payload(uint64(i), size)
		for twice := range 2 {
			k := storetest.Key(2*i + twice)
			mustPut(t, s, store.Record{Key: k, Payload: payload})
			r, err := s.Get(t.Context(), k)
			if err != nil || !bytes.Equal(r.Payload, payload) {
				t.Errorf("%d bytes came back as %d, %v", size, len(r.Payload), err)
			}
		}
		blobs, err := filepath.Glob(filepath.Join(dir, vfs.Blobs, "*", "*"))
		if err != nil || len(blobs) != i+1 {
			t.Errorf("%d payloads are %d files, %v", i+1, len(blobs), err)
		}
	}
	if left := tempsIn(t, dir); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}
