package dataset

// join holds what a dataset that joins others must know of them. It is computed once:
// joining branches of one dataset again and again doubles the number of paths each time.
type join struct {
	batch int // the largest batch of the parts
	ways  int // paths to datasets that join nothing, or more than maxWays
}

// maxWays bounds the number of paths to a dataset for which the order of reads is
// determined.
const maxWays = 1 << 10

func joinOf[T any](parts []Dataset[T]) (j join) {
	for _, p := range parts {
		j.batch = max(j.batch, BatchOf(p))
		j.ways = min(j.ways+waysOf(p), maxWays+1)
	}
	return j
}

// Batch implements [batched].
func (j join) Batch() int { return j.batch }

func (j join) leads() int { return j.ways }

// waysOf returns the number of paths from a dataset up to datasets that join nothing.
func waysOf(ds any) int {
	if d, ok := ds.(interface{ leads() int }); ok {
		return d.leads()
	}
	return 1
}

func (d *mapped) leads() int { return waysOf(d.ds) }

func (a *arranged) leads() int { return waysOf(a.ds) }

func (k *keeping) leads() int { return waysOf(k.ds) }

func (e *each) leads() int { return waysOf(e.ds) }

func (t *traced) leads() int { return waysOf(t.ds) }

func (r *reordered[T]) leads() int { return waysOf(r.ds) }
