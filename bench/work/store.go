package work

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/dgraph-io/badger/v4"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
	"github.com/larder-data/larder/store/disk"
	"go.etcd.io/bbolt"
	_ "modernc.org/sqlite" // the driver
)

// name is the key of value i: 32 bytes in no order.
type name = [sha256.Size]byte

func nameOf(i int) name {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(i))
	return sha256.Sum256(b[:])
}

// keyValueStore is a store under comparison. Each put is complete when it returns, unless the
// name of the system says that it batches puts.
type keyValueStore interface {
	put(k name, v []byte) error
	// get passes the value to see, which must not retain it.
	get(k name, see func(v []byte) error) error
	io.Closer
}

var errMissing = errors.New("what was put is not there")

// openStore opens a system. With sync, each put survives a loss of power.
func openStore(ctx context.Context, contestant, dir string, sync bool) (keyValueStore, error) {
	tool, _, batched := strings.Cut(contestant, ", 1000 a transaction")
	tool = strings.TrimSuffix(tool, ", only 20 000 values")
	batch := 1
	if batched {
		batch = 1000
	}
	switch tool {
	case "Larder":
		s, err := disk.Open(disk.Options{Dir: dir, MaxBytes: -1, Sync: sync, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
		return larderStore{ctx, s}, err
	case "bbolt":
		return openBolt(dir, sync, batch)
	case "badger":
		db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithSyncWrites(sync))
		return badgerStore{db}, err
	case "pebble":
		db, err := pebble.Open(dir, &pebble.Options{Logger: quiet{}})
		return pebbleStore{db, map[bool]*pebble.WriteOptions{false: pebble.NoSync, true: pebble.Sync}[sync]}, err
	case "SQLite":
		return openSQLite(ctx, dir, sync, batch)
	}
	return nil, errUnknown
}

// quiet discards the log of pebble.
type quiet struct{}

func (quiet) Infof(string, ...any)           {}
func (quiet) Errorf(string, ...any)          {}
func (quiet) Fatalf(format string, a ...any) { panic(fmt.Sprintf(format, a...)) }

type larderStore struct {
	ctx context.Context
	*disk.Store
}

func larderKey(k name) key.Key { return key.Key(append([]byte{1}, k[:]...)) }

func (s larderStore) put(k name, v []byte) error {
	return s.Put(s.ctx, store.Record{Key: larderKey(k), Payload: v})
}

func (s larderStore) get(k name, see func([]byte) error) error {
	r, err := s.Get(s.ctx, larderKey(k))
	if err != nil {
		return err
	}
	return see(r.Payload)
}

type boltStore struct {
	*bbolt.DB
	batch   int
	tx      *bbolt.Tx
	pending int
}

var bucket = []byte("values")

func openBolt(dir string, sync bool, batch int) (keyValueStore, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	db, err := bbolt.Open(dir+"/bolt", 0o666, &bbolt.Options{NoSync: !sync, NoGrowSync: !sync, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return nil, err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucketIfNotExists(bucket)
		return err
	})
	return &boltStore{DB: db, batch: batch}, err
}

func (s *boltStore) put(k name, v []byte) (err error) {
	if s.tx == nil {
		if s.tx, err = s.Begin(true); err != nil {
			return err
		}
	}
	if err := s.tx.Bucket(bucket).Put(k[:], bytes.Clone(v)); err != nil {
		return err
	}
	if s.pending++; s.pending < s.batch {
		return nil
	}
	return s.commit()
}

func (s *boltStore) commit() error {
	if s.tx == nil {
		return nil
	}
	tx := s.tx
	s.tx, s.pending = nil, 0
	return tx.Commit()
}

func (s *boltStore) Close() error { return errors.Join(s.commit(), s.DB.Close()) }

func (s *boltStore) get(k name, see func([]byte) error) error {
	return s.View(func(tx *bbolt.Tx) error {
		v := tx.Bucket(bucket).Get(k[:])
		if v == nil {
			return errMissing
		}
		return see(v)
	})
}

type badgerStore struct{ *badger.DB }

func (s badgerStore) put(k name, v []byte) error {
	return s.Update(func(tx *badger.Txn) error { return tx.Set(k[:], bytes.Clone(v)) })
}

func (s badgerStore) get(k name, see func([]byte) error) error {
	return s.View(func(tx *badger.Txn) error {
		it, err := tx.Get(k[:])
		if err != nil {
			return err
		}
		return it.Value(see)
	})
}

type pebbleStore struct {
	*pebble.DB
	write *pebble.WriteOptions
}

func (s pebbleStore) put(k name, v []byte) error { return s.Set(k[:], v, s.write) }

func (s pebbleStore) get(k name, see func([]byte) error) error {
	v, done, err := s.Get(k[:])
	if err != nil {
		return err
	}
	return errors.Join(see(v), done.Close())
}

type sqliteStore struct {
	ctx     context.Context
	db      *sql.DB
	put1    *sql.Stmt
	get1    *sql.Stmt
	batch   int
	tx      *sql.Tx
	inTx    *sql.Stmt
	pending int
}

func openSQLite(ctx context.Context, dir string, sync bool, batch int) (keyValueStore, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	how := "NORMAL"
	if sync {
		how = "FULL"
	}
	db, err := sql.Open("sqlite", "file:"+dir+"/values.db?_pragma=journal_mode(WAL)&_pragma=synchronous("+how+")&_pragma=mmap_size(1073741824)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	s := &sqliteStore{ctx: ctx, db: db, batch: batch}
	if _, err = db.ExecContext(ctx, "CREATE TABLE IF NOT EXISTS v (k BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID"); err != nil {
		return nil, err
	}
	if s.put1, err = db.PrepareContext(ctx, "INSERT INTO v VALUES (?, ?)"); err != nil {
		return nil, err
	}
	s.get1, err = db.PrepareContext(ctx, "SELECT v FROM v WHERE k = ?")
	return s, err
}

func (s *sqliteStore) put(k name, v []byte) (err error) {
	if s.batch == 1 {
		_, err := s.put1.ExecContext(s.ctx, k[:], v)
		return err
	}
	if s.tx == nil {
		if s.tx, err = s.db.BeginTx(s.ctx, nil); err != nil {
			return err
		}
		s.inTx = s.tx.StmtContext(s.ctx, s.put1)
	}
	if _, err := s.inTx.ExecContext(s.ctx, k[:], v); err != nil {
		return err
	}
	if s.pending++; s.pending < s.batch {
		return nil
	}
	return s.commit()
}

func (s *sqliteStore) commit() error {
	if s.tx == nil {
		return nil
	}
	tx := s.tx
	s.tx, s.pending = nil, 0
	return tx.Commit()
}

func (s *sqliteStore) get(k name, see func([]byte) error) error {
	var v sql.RawBytes
	rows, err := s.get1.QueryContext(s.ctx, k[:])
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return errMissing
	}
	if err := rows.Scan(&v); err != nil {
		return err
	}
	return see(v)
}

func (s *sqliteStore) Close() error { return errors.Join(s.commit(), s.db.Close()) }

// values creates incompressible values that contain their index.
type values struct {
	block []byte
	value []byte
}

func newValues(size int) *values {
	v := &values{make([]byte, 1<<20), make([]byte, size)}
	_, _ = rand.NewChaCha8([32]byte{1}).Read(v.block)
	return v
}

// at returns value i, which is overwritten by the next call.
func (v *values) at(i int) []byte {
	copy(v.value, v.block[i*4093%(len(v.block)-len(v.value)):])
	binary.LittleEndian.PutUint64(v.value, uint64(i))
	return v.value
}

func is(i int) func([]byte) error {
	return func(v []byte) error {
		if binary.LittleEndian.Uint64(v) != uint64(i) {
			return errMissing
		}
		return nil
	}
}

// storeRow puts values into a store in one process and gets them, in random order, in
// the next.
func storeRow(ctx context.Context, j Job) (_ Figures, err error) {
	values := newValues(j.Bytes)
	ready()
	begin := time.Now()
	s, err := openStore(ctx, j.Contestant, j.Dir+"/cache", j.Row == "store-sync")
	if err != nil {
		return nil, err
	}
	if j.Phase == "put" {
		for i := range j.N {
			if err := s.put(nameOf(i), values.at(i)); err != nil {
				return nil, errors.Join(err, s.Close())
			}
		}
		err := s.Close()
		took := seconds(begin)
		return Figures{"put": took / float64(j.N), "put_all": took}, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.get(nameOf(0), is(0)); err != nil {
		return nil, err
	}
	f := Figures{"open": seconds(begin)}
	f["open_anon"], _ = rss()
	reads, random := min(j.N, 100_000), rand.New(rand.NewPCG(1, 2))
	begin = time.Now()
	for range reads {
		i := random.IntN(j.N)
		if err := s.get(nameOf(i), is(i)); err != nil {
			return nil, err
		}
	}
	f["get"] = seconds(begin) / float64(reads)
	f["anon"], f["mapped"] = rss()
	return f, nil
}
