package dataset

// join is what a dataset that joins others knows of these. It is found out once: where
// branches of one dataset are joined again and again, there are twice as many ways to it
// each time.
type join struct {
	batch int // the most of the parts
	ways  int // that lead to what joins nothing, or more than mostWays
}

// mostWays bounds by how many ways a dataset may be read for the order of the reads to be
// found out.
const mostWays = 1 << 10

func joinOf[T any](parts []Dataset[T]) (j join) {
	for _, p := range parts {
		j.batch = max(j.batch, BatchOf(p))
		j.ways = min(j.ways+waysOf(p), mostWays+1)
	}
	return j
}

// Batch implements [batched].
func (j join) Batch() int { return j.batch }

func (j join) leads() int { return j.ways }

// waysOf returns how many ways lead from a dataset up to what joins nothing.
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
