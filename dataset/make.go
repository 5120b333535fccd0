package dataset

import "context"

// Make computes items of samples in batches. Cached executions of one node share one
// lookup pass and one write. Transforms with a BatchFunc ([TransformFunc]) run together,
// as do those that compute their inputs, whether cached or not. Other executions do not
// run.
//
// Make stops after some milliseconds, when the first n samples are done, at least one;
// the rest is computed on demand. An error belongs to the sample after these.
func Make(ctx context.Context, samples []Sample) (n int, err error) {
	n, of, err := makeFirst(ctx, samples)
	if err != nil {
		of.clearFailed()
	}
	if n == 0 && err == nil && len(samples) > 0 {
		return 1, nil // it is computed on demand
	}
	return n, err
}

// makeFirst is [Make] for the first n samples, which may be 0. If err is not nil, of is
// the execution that failed. It returns err again at the next request.
func makeFirst(ctx context.Context, samples []Sample) (n int, of *Execution, err error) {
	n = len(samples)
	for _, group := range together(samples) {
		made, gerr := group.make(ctx)
		if made < len(group.executions) {
			if at := group.samples[made]; at < n || gerr != nil && at == n {
				n, of, err = at, group.executions[made], gerr
			}
		}
	}
	return n, of, err
}

// ahead computes items of samples before they are read one by one. It returns for how
// many samples that is finished. A failed item returns its error when it is read.
func ahead(ctx context.Context, samples []Sample) (n int) {
	n, _, err := makeFirst(ctx, samples)
	if err != nil {
		n++
	}
	return n
}
