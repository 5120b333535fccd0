package larder

import (
	"context"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// Forget forgets what is kept under keys, pinned or not. What another process holds in
// memory it may hand out until that is let go of.
func (l *Larder) Forget(ctx context.Context, keys ...key.Key) error {
	l.LetGo(keys...)
	return l.store.Delete(ctx, keys...)
}

// LetGo lets go of what is held in memory under keys. What is kept stays kept.
func (l *Larder) LetGo(keys ...key.Key) {
	if l.memory != nil {
		for _, k := range keys {
			l.memory.Remove(k)
		}
	}
}

// File returns the file that is all of the encoding of a result, for other programs of
// this machine to read in place. The encoding is what the store handed out for
// the record under k; it is asked for anew if it lies in memory alone. The file may be
// removed at any time.
func (l *Larder) File(ctx context.Context, k key.Key, encoded []byte) (path string, ok bool) {
	filed, ok := l.local.(*space).Store.(store.Filed)
	if !ok {
		return "", false
	}
	if path, ok := filed.File(encoded); ok {
		return path, true
	}
	rec, err := l.local.GetSeen(ctx, k)
	if err != nil || len(rec.Payload) != len(encoded) {
		return "", false
	}
	return filed.File(rec.Payload)
}
