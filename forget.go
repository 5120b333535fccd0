package larder

import (
	"context"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Forget deletes the results under keys, pinned or not. Another process may still
// return them from its memory until it evicts them.
func (l *Larder) Forget(ctx context.Context, keys ...key.Key) error {
	l.DropFromMemory(keys...)
	return l.store.Delete(ctx, keys...)
}

// DropFromMemory removes the results under keys from memory. They stay in the store.
func (l *Larder) DropFromMemory(keys ...key.Key) {
	if l.memory != nil {
		for _, k := range keys {
			l.memory.Remove(k)
		}
	}
}

// File returns the path of the file that consists of the encoding of a result, for
// other programs of this machine to read in place. encoded must be what the store
// returned for the record under k. If it is in memory alone, File reads the record
// again. The file may be removed at any time.
func (l *Larder) File(ctx context.Context, k key.Key, encoded []byte) (path string, ok bool) {
	filed, ok := l.local.(*namespace).Store.(store.FileBacked)
	if !ok {
		return "", false
	}
	if path, ok := filed.File(encoded); ok {
		return path, true
	}
	rec, err := l.local.GetWithoutRefresh(ctx, k)
	if err != nil || len(rec.Payload) != len(encoded) {
		return "", false
	}
	return filed.File(rec.Payload)
}
