package flow

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/fs/filestate"
	"github.com/larder-data/larder/key"
)

// A Snapshot is a snapshot of the state of the files that some nodes depend on,
// taken without reading them.
type Snapshot struct {
	// Identity identifies the samples of the nodes independently of the
	// location of local files. It covers names and sizes of files, redacted
	// URLs, and the flow's description of the data; of local paths only the
	// last element counts. The code of components and the names of nodes do not
	// count.
	Identity string

	known bool // the nodes depend on nothing else
	does  key.Key
	roots []filestate.Root
	files *filestate.Stamp
	at    time.Time
	of    map[string]*Snapshot // of each node that has a cache

	// recent identifies the content of files that had changed shortly before
	// at, because they may change again without a new time. It is summed with
	// seed.
	recent key.Digest
	seed   uint64
}

// Stamp identifies the names, sizes and times of the files on this machine.
func (l *Snapshot) Stamp() string {
	return base64.RawURLEncoding.EncodeToString(l.files.Sum[:12])
}

// Snapshot takes a snapshot of the files that the nodes of o.Only depend on. It
// computes and reads nothing.
func (f *Flow) Snapshot(ctx context.Context, o RunOptions) (*Snapshot, error) {
	r, err := f.newRun(ctx, o)
	if err != nil {
		return nil, requestError{err}
	}
	says, err := f.saysOf(o.Only)
	if err != nil {
		return nil, err
	}
	l, err := r.look(ctx, r.states, says, nil)
	if err != nil {
		return nil, err
	}
	l.of = map[string]*Snapshot{}
	for _, s := range r.states {
		if s.Options.Cache == nil {
			continue
		}
		above := r.upstream(s, func(*state) bool { return false })
		reads := slices.DeleteFunc(slices.Clone(r.states), func(n *state) bool { return n != s && !slices.Contains(above, n) })
		if l.of[s.Name], err = r.look(ctx, reads, nil, l); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// Of returns the snapshot of the files that a node with a cache depends on, or
// nil.
func (l *Snapshot) Of(node string) *Snapshot {
	if l == nil {
		return nil
	}
	return l.of[node]
}

// look takes a snapshot for some nodes, which are among those of an earlier
// snapshot if before is not nil. It derives the identity from the flow's
// description of their data and from their files.
func (r *run) look(ctx context.Context, states []*state, says []byte, before *Snapshot) (*Snapshot, error) {
	l := &Snapshot{known: true, at: time.Now(), seed: rand.Uint64()}
	does := []key.Param{{Name: "codecs", Value: dataset.Codecs()}, {Name: "python", Value: r.Python}}
	for _, s := range states {
		parts, ok := r.does(ctx, s)
		l.known = l.known && ok
		does = append(does, key.Param{Name: "node " + s.Name, Value: parts}, key.Param{Name: "options " + s.Name, Value: fmt.Sprint(s.Options.text(), s.eager)})
		for _, in := range s.Component.Inputs(r.bareEnv(s.Node), s.Params) {
			of, err := rootsOf(ctx, in)
			if err != nil {
				return nil, err
			}
			l.roots = append(l.roots, of...)
		}
	}
	var err error
	if before != nil && len(before.roots) == len(l.roots) {
		l.files, l.at = before.files, before.at // all of them are read
	} else if l.files, err = filestate.Of(ctx, l.roots); err != nil {
		return nil, err
	}
	for name, stat := range l.files.Files() {
		says = binary.AppendUvarint(append(append(says, name...), 0), uint64(stat.Size))
	}
	sum := key.DigestOf(says)
	l.Identity = base64.RawURLEncoding.EncodeToString(sum[:16])
	build, err := key.Build()
	if l.known = l.known && err == nil; !l.known {
		return l, nil
	}
	op, err := key.NewOp("look", build, does...)
	if err == nil {
		l.does = op.Key()
		l.recent, err = l.files.Contents(ctx, l.at, l.seed)
	}
	l.known = err == nil
	return l, nil
}

// text describes the options of a node.
func (o Options) text() string {
	cached, onError := "", ""
	if o.Cache != nil {
		cached = fmt.Sprintf("%+v", *o.Cache)
	}
	if o.OnError != nil {
		onError = fmt.Sprintf("%+v", *o.OnError)
	}
	o.Cache, o.OnError = nil, nil
	return fmt.Sprintf("%+v %s %s", o, cached, onError)
}

// saysOf describes the data of nodes as the flow does, with only the last
// element of local paths.
func (f *Flow) saysOf(nodes []string) (says []byte, err error) {
	p := &printer{writer: writer{flow: f, data: true, anywhere: true}, of: map[*Node]key.Digest{}}
	for _, name := range nodes {
		all, output, err := f.find(name)
		if err != nil {
			return nil, requestError{err}
		}
		for _, n := range all {
			d, err := p.print(n)
			if err != nil {
				return nil, err
			}
			says = append(append(append(says, d[:]...), output...), 0)
		}
	}
	return says, nil
}

// Same reports whether the snapshot equals an earlier one. If so, nodes opened
// then have the same content as nodes opened now. False is always a safe
// answer.
func (l *Snapshot) Same(ctx context.Context, before *Snapshot) bool {
	if !l.known || !before.known || l.does != before.does || l.files.Sum != before.files.Sum {
		return false
	}
	recent, err := l.files.Contents(ctx, before.at, before.seed)
	return err == nil && recent == before.recent
}
