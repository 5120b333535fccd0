package work

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/golang/groupcache"
	"github.com/larder-data/larder"
	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/lazy"
	"github.com/maypok86/otter/v2"
)

// executions counts calls of the functions that are memoized.
var executions float64

// open opens a Larder in the job's directory. Systems named "in memory" also cache
// decoded values; the others read every hit from disk.
func (j Job) open() (*larder.Larder, error) {
	o := larder.Options{Dir: j.Dir + "/cache", MemoryBytes: -1, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	if strings.Contains(j.Contestant, "in memory") {
		o.MemoryBytes = 0
	}
	return larder.Open(o)
}

// remember returns f memoized by Larder.
func remember[A, R any](j Job, l *larder.Larder, f func(context.Context, A) (R, error)) (func(context.Context, A) (R, error), error) {
	if strings.HasPrefix(j.Contestant, "Larder lazy") {
		node := lazy.Func1("f", f)
		return func(ctx context.Context, a A) (R, error) { return node(lazy.Of(a)).Get(ctx, l) }, nil
	}
	op, err := key.NewOp("f", key.Version("1"))
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, a A) (R, error) {
		action, err := op.Call(a)
		if err != nil {
			var none R
			return none, err
		}
		return larder.Do(ctx, l, action, func(ctx context.Context) (R, error) { return f(ctx, a) })
	}, nil
}

// memo measures a memoized function: cold in one process, warm in the next.
func memo[A, R any](ctx context.Context, j Job, args []A, f func(context.Context, A) (R, error), touch func(R)) (_ Figures, err error) {
	l, err := j.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	call, err := remember(j, l, f)
	if err != nil {
		return nil, err
	}
	return calls(ctx, j, args, call, touch)
}

// calls measures a memoized function.
func calls[A, R any](ctx context.Context, j Job, args []A, call func(context.Context, A) (R, error), touch func(R)) (Figures, error) {
	all := func() error {
		for _, a := range args {
			v, err := call(ctx, a)
			if err != nil {
				return err
			}
			touch(v)
		}
		return nil
	}
	ready()
	begin := time.Now()
	if err := all(); err != nil {
		return nil, err
	}
	first := seconds(begin) / float64(len(args))
	if j.Phase == "cold" {
		return Figures{"cold": first, "cold_executions": executions}, nil
	}
	warm, err := j.repeat(len(args), all)
	return Figures{"warm": warm, "first": first, "executions": executions}, err
}

func tiny(_ context.Context, k int) (int, error) {
	executions++
	return k + 1, nil
}

func integers(n int) []int {
	list := make([]int, n)
	for i := range list {
		list[i] = i
	}
	return list
}

// hit is the row of tiny results. The peers in memory start empty in each process, so
// their cold figure is that of the same process.
func hit(ctx context.Context, j Job) (Figures, error) {
	nothing := func(int) {}
	switch j.Contestant {
	case "otter, in memory":
		c := otter.Must(&otter.Options[int, int]{MaximumSize: 10_000})
		load := otter.LoaderFunc[int, int](tiny)
		return calls(ctx, j, integers(j.N), func(ctx context.Context, k int) (int, error) { return c.Get(ctx, k, load) }, nothing)
	case "groupcache, in memory":
		g := groupcache.NewGroup("f", 64<<20, groupcache.GetterFunc(func(_ context.Context, k string, dest groupcache.Sink) error {
			executions++
			return dest.SetBytes([]byte(k))
		}))
		return calls(ctx, j, integers(j.N), func(ctx context.Context, k int) (int, error) {
			var b groupcache.ByteView
			err := g.Get(ctx, string([]byte{byte(k), byte(k >> 8)}), groupcache.ByteViewSink(&b))
			return b.Len(), err
		}, nothing)
	}
	return memo(ctx, j, integers(j.N), tiny, nothing)
}

// elements is the number of float32 in 1 MiB.
const elements = 1 << 18

// result is the row of results of 1 MiB. The caller reads a value of each page.
func result(ctx context.Context, j Job) (Figures, error) {
	var sum float64
	if strings.Contains(j.Contestant, "slice") {
		return memo(ctx, j, integers(j.N), func(_ context.Context, k int) ([]float32, error) {
			executions++
			return floats(k), nil
		}, func(v []float32) {
			for i := 0; i < len(v); i += 1024 {
				sum += float64(v[i])
			}
		})
	}
	return memo(ctx, j, integers(j.N), func(_ context.Context, k int) (*array.Array, error) {
		executions++
		return array.From(floats(k), elements)
	}, func(v *array.Array) {
		for i := 0; i < len(v.Data); i += 4096 {
			sum += float64(v.Data[i])
		}
	})
}

func floats(k int) []float32 {
	v := make([]float32, elements)
	for i := range v {
		v[i] = float32(i + k)
	}
	return v
}

// argument is the row of arguments of 1 MiB: each call identifies one by its content.
func argument(ctx context.Context, j Job) (Figures, error) {
	var args [][]float64
	for k := range j.N {
		v := make([]float64, 1<<17)
		for i := range v {
			v[i] = float64(i + k)
		}
		args = append(args, v)
	}
	return memo(ctx, j, args, func(_ context.Context, v []float64) (float64, error) {
		executions++
		var sum float64
		for _, x := range v {
			sum += x
		}
		return sum, nil
	}, func(float64) {})
}

// block is the data to hash as work. It is created on first use, because rows about
// memory would count it.
var block = sync.OnceValue(func() []byte { return make([]byte, 8<<20) })

// stampede is the row of several processes that request the same results at the same
// time.
func stampede(ctx context.Context, j Job) (_ Figures, err error) {
	l, err := j.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	call, err := remember(j, l, func(_ context.Context, k int) (int, error) {
		executions++
		sum := sha256.Sum256(block())
		return k + int(sum[0]), nil
	})
	if err != nil {
		return nil, err
	}
	ready()
	begin := time.Now()
	for k := range j.N {
		if _, err := call(ctx, k); err != nil {
			return nil, err
		}
	}
	return Figures{"seconds": seconds(begin), "executions": executions}, nil
}

// chain is the row of nodes that each need the previous one.
func chain(ctx context.Context, j Job) (_ Figures, err error) {
	l, err := j.open()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	var v int
	if strings.HasPrefix(j.Contestant, "Larder lazy") {
		node := lazy.Func1("f", tiny)
		ready()
		begin := time.Now()
		root := lazy.Of(1)
		for range j.N {
			root = node(root)
		}
		v, err = lazy.Get(ctx, l, root, lazy.Evaluation{})
		return chained(j, v, begin, err)
	}
	call, err := remember(j, l, tiny)
	if err != nil {
		return nil, err
	}
	ready()
	begin := time.Now()
	v = 1
	for range j.N {
		if v, err = call(ctx, v); err != nil {
			break
		}
	}
	return chained(j, v, begin, err)
}

func chained(j Job, v int, begin time.Time, err error) (Figures, error) {
	took := seconds(begin)
	if err == nil && v != j.N+1 {
		err = errors.New("the chain came out wrong")
	}
	if j.Phase == "cold" {
		return Figures{"cold": took, "cold_executions": executions}, err
	}
	return Figures{"warm": took, "executions": executions}, err
}
