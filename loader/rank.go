package loader

// A RankBatch is one batch of one rank, and the state after its step.
type RankBatch struct {
	Content
	After State
}

// rankBatches yields the batches of a rank, from a state on to the end of its epoch.
// The k-th is number k·ranks+rank of the batches from there on.
type rankBatches struct {
	epoch       *Epoch
	from        State
	rank, ranks int
	batches     int // from there on, for all ranks
	next        int // for this rank
}

func (p *Plan) rankBatches(from State, rank, ranks int) (*rankBatches, error) {
	e, err := p.Epoch(from.Epoch)
	if err != nil {
		return nil, err
	}
	return &rankBatches{epoch: e, from: from, rank: rank, ranks: ranks, batches: e.Batches(from.Position)}, nil
}

// take returns the next batch; ok is false at the end of the epoch.
func (t *rankBatches) take() (batch RankBatch, ok bool) {
	first := t.next * t.ranks // of the step
	whole := first+t.ranks <= t.batches
	if first >= t.batches || !whole && t.epoch.plan.LastStep == DropLastStep {
		return batch, false
	}
	k, again := first+t.rank, false
	if k >= t.batches {
		if t.epoch.plan.LastStep == UnevenLastStep {
			return batch, false
		}
		k, again = t.batches-1, true
	}
	t.next++
	batch.Content = t.epoch.Content(t.from.Position, k)
	if again {
		batch.Padding = len(batch.Samples)
	}
	batch.After = t.after(first + t.ranks)
	return batch, true
}

// share returns the next batch for one of several readers of the rank.
func (t *rankBatches) share(share, shares int) (batch RankBatch, ok bool) {
	t.next += (share - t.next%shares + shares) % shares
	return t.take()
}

// Batches returns the number of batches of a rank from a state on, to the end
// of its epoch.
func (p *Plan) Batches(from State, rank, ranks int) (int, error) {
	t, err := p.rankBatches(from, rank, ranks)
	if err != nil {
		return 0, err
	}
	n, left := t.batches/ranks, t.batches%ranks
	if left > 0 && (p.LastStep == PadLastStep || p.LastStep == UnevenLastStep && rank < left) {
		n++
	}
	return n, nil
}

// after returns the state after a number of batches: the start of the next
// epoch, if no step is left.
func (t *rankBatches) after(batches int) State {
	s := t.from
	left := t.batches - batches
	if left <= 0 || left < t.ranks && t.epoch.plan.LastStep == DropLastStep {
		s.Epoch, s.Position = s.Epoch+1, 0
		return s
	}
	s.Position = t.epoch.start(s.Position, batches)
	return s
}
