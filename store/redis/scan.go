package redis

import (
	"cmp"
	"context"
	"iter"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/zeebo/xxh3"

	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// scanned is how many names one step of a scan visits, including foreign ones.
const scanned = 1000

// stored is the result of a scan for one record.
type stored struct {
	header       // zero except for the key if it is damaged
	space  int64 // bytes in the server
	sound  bool
}

// escape turns a string into a pattern that matches only this string.
var escape = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`)

// names passes the names that begin with the prefix and kind to visit, several at a time. A
// name may occur twice.
func (s *Store) names(ctx context.Context, kind string, visit func(names []string) error) error {
	cursor, pattern := uint64(0), escape.Replace(s.o.Prefix+kind)+"*"
	for {
		var names []string
		var refused error
		err := s.talk(ctx, func(ctx context.Context) error {
			names, cursor, refused = s.client.Scan(ctx, cursor, pattern, scanned).Result()
			return lost(refused)
		})
		if err = cmp.Or(err, s.refused(refused), refused); err != nil {
			return err
		}
		if err := visit(names); err != nil || cursor == 0 {
			return err
		}
	}
}

// scan passes all records to visit, several at a time. A record that exists during the
// whole scan is passed at least once.
func (s *Store) scan(ctx context.Context, visit func([]stored) error) error {
	return s.names(ctx, recordKind, func(names []string) error {
		keys := make([]key.Key, 0, len(names))
		for _, name := range names {
			if text := name[len(s.o.Prefix)+len(recordKind):]; len(text) == key.Size {
				keys = append(keys, key.Key([]byte(text)))
			}
		}
		found, err := s.headers(ctx, keys)
		if err != nil {
			return err
		}
		return visit(found)
	})
}

// headers reads the starts of the records that exist.
func (s *Store) headers(ctx context.Context, keys []key.Key) ([]stored, error) {
	beginnings, lengths := make([]*goredis.StringCmd, len(keys)), make([]*goredis.IntCmd, len(keys))
	err := s.run(ctx, func(p goredis.Pipeliner, ctx context.Context) {
		for i, k := range keys {
			beginnings[i] = p.GetRange(ctx, s.recordName(k), 0, headerSize-1)
			lengths[i] = p.StrLen(ctx, s.recordName(k))
		}
	})
	if err != nil {
		return nil, err
	}
	found := make([]stored, 0, len(keys))
	for i, k := range keys {
		b, _ := beginnings[i].Bytes()
		if len(b) == 0 && beginnings[i].Err() == nil {
			continue // it was removed
		}
		f := stored{space: s.space(lengths[i].Val())}
		if h, err := decodeHeader(k, b); err == nil && h.total() == lengths[i].Val() {
			f.header, f.sound = h, true
		}
		f.Key = k
		found = append(found, f)
	}
	return found, nil
}

// Records yields the stored records, without damaged ones. It scans all names in the
// server.
func (s *Store) Records(ctx context.Context) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		pinned, err := s.pinned(ctx)
		if err != nil {
			yield(store.Info{}, err)
			return
		}
		seen, going := map[uint64]bool{}, true
		err = s.scan(ctx, func(found []stored) error {
			for _, f := range found {
				fp := xxh3.Hash(f.Key[:])
				if !f.sound || seen[fp] {
					continue
				}
				seen[fp], f.Pinned = true, pinned[f.Key]
				if going = yield(f.Info, nil); !going {
					return errLeft
				}
			}
			return nil
		})
		if err != nil && going {
			yield(store.Info{}, err)
		}
	}
}

// Usage counts the stored records. It scans all names in the server.
func (s *Store) Usage(ctx context.Context) (u store.Usage, err error) {
	u.Limit = max(s.o.MaxBytes, 0)
	seen := map[uint64]bool{}
	err = s.scan(ctx, func(found []stored) error {
		for _, f := range found {
			if fp := xxh3.Hash(f.Key[:]); !seen[fp] {
				seen[fp] = true
				u.Records++
				u.Bytes += f.space
			}
		}
		return nil
	})
	return u, err
}

// worth returns what is lost if a record is evicted: nothing if it is damaged.
func worth(f stored, now time.Time) float64 {
	if !f.sound {
		return 0
	}
	return f.EvictionPriority(now)
}
