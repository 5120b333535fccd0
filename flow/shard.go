package flow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
)

// A Shard is one of several equal parts of a stage.
type Shard struct {
	Index int // from 1
	Count int
}

// ParseShard parses I/N, such as 3/16.
func ParseShard(text string) (Shard, error) {
	index, count, _ := strings.Cut(text, "/")
	i, ierr := strconv.Atoi(index)
	n, nerr := strconv.Atoi(count)
	if ierr != nil || nerr != nil || i < 1 || i > n {
		return Shard{}, fmt.Errorf("%q is not I/N with I from 1 to N, such as 3/16", text)
	}
	return Shard{i, n}, nil
}

// String returns I/N.
func (s Shard) String() string { return fmt.Sprintf("%d/%d", s.Index, s.Count) }

// of returns the range of a shard in n samples.
func (s Shard) of(n int) (from, to int) {
	return cut(n, s.Index-1, s.Count), cut(n, s.Index, s.Count)
}

// cut returns n*i/count without overflow.
func cut(n, i, count int) int { return n/count*i + n%count*i/count }

// A ShardRange is the range of a node that a shard computes.
type ShardRange struct {
	Shard int `json:"shard"`
	Range
}

// StageRanges are the ranges of a stage.
type StageRanges struct {
	Stage
	// Ranges is nil if they depend on results of an earlier stage that are not cached yet.
	Ranges []ShardRange `json:"ranges"`
}

// ShardRanges lists the stages of a run and the ranges of each shard. It computes nothing.
func (f *Flow) ShardRanges(ctx context.Context, o RunOptions, shards int) ([]StageRanges, error) {
	all, err := f.Stages(o)
	if err != nil {
		return nil, err
	}
	stages := make([]StageRanges, len(all))
	for i, stage := range all {
		stages[i].Stage = stage
		p, err := f.shardRun(ctx, o, stage.Number)
		if err != nil {
			return nil, err
		}
		ready, err := p.ready(ctx)
		if err != nil {
			return nil, err
		}
		for k := 1; ready && k <= shards; k++ {
			for _, s := range p.ranged() {
				for _, r := range p.rangesOf(s, Shard{k, shards}) {
					stages[i].Ranges = append(stages[i].Ranges, ShardRange{k, r})
				}
			}
		}
	}
	return stages, nil
}

// RunShard computes and caches the results of one shard of a stage. With stage 0 it does so
// for one stage after another, up to one whose earlier stages other shards have not
// completed. It writes no sink and pins no results: the next [Flow.Run] finds the
// results and does. Samples that a node may skip are reported, and tried again by that run.
func (f *Flow) RunShard(ctx context.Context, o RunOptions, sh Shard, stage int) (*Report, error) {
	all, err := f.Stages(o)
	if err != nil {
		return nil, err
	}
	if stage < 0 || stage > len(all) {
		return nil, requestError{fmt.Errorf("there is no stage %d; the flow has %d", stage, len(all))}
	}
	var total *Report
	start := time.Now()
	for _, at := range all {
		if stage != 0 && at.Number != stage {
			continue
		}
		p, err := f.shardRun(ctx, o, at.Number)
		if err != nil {
			return nil, err
		}
		if stage == 0 && at.Number > 1 {
			if ready, err := p.ready(ctx); err != nil || !ready {
				total.Waits = at.Number
				return total, err
			}
		}
		err = p.compute(ctx, sh)
		total = total.add(p.shardReport(ctx, sh, err, time.Since(start)))
		if err != nil {
			return total, err
		}
	}
	return total, nil
}

// A shardRun computes ranges of the nodes of one stage.
type shardRun struct{ *run }

func (f *Flow) shardRun(ctx context.Context, o RunOptions, stage int) (*shardRun, error) {
	r, err := f.newRun(ctx, o)
	if err != nil {
		return nil, requestError{err}
	}
	r.ranges, r.stage = true, stage
	_, err = r.stages()
	return &shardRun{r}, err
}

// ranged lists the nodes of the stage.
func (p *shardRun) ranged() (all []*state) {
	for _, s := range p.states {
		if s.stage == p.stage {
			all = append(all, s)
		}
	}
	return all
}

// ready reports whether the nodes of the stage can be built from cached results.
func (p *shardRun) ready(ctx context.Context) (bool, error) {
	if p.stage == 1 {
		return true, p.build(ctx)
	}
	for _, s := range p.states {
		if p.skips(s).Skip && s.stage > 0 {
			return false, nil // which samples fail is not cached
		}
	}
	err := p.build(larder.CachedOnly(ctx))
	if errors.Is(err, larder.ErrNotCached) {
		return false, nil
	}
	return err == nil, err
}

// build builds the nodes of the stage that are not built yet.
func (p *shardRun) build(ctx context.Context) error {
	ctx = p.context(ctx)
	var nodes []*Node
	for _, s := range p.ranged() {
		nodes = append(nodes, s.Node)
	}
	for _, n := range p.needed(nodes) {
		s := p.state(n.Name)
		if s.data.Parts != nil {
			continue
		}
		p.events.started(s)
		if err := p.run.build(ctx, s); err != nil {
			s.data = component.Data{}
			return p.failed(ctx, s, err)
		}
	}
	return nil
}

// rangesOf returns the ranges of a shard in the datasets of a node, as if these were one.
func (p *shardRun) rangesOf(s *state, sh Shard) (all []Range) {
	total := 0
	for _, part := range s.data.Parts {
		total += part.Len()
	}
	from, to := sh.of(total)
	for i, part := range s.data.Parts {
		n := part.Len()
		if a, b := max(from, 0), min(to, n); a < b {
			all = append(all, Range{Node: s.Name, Part: i, From: a, To: b})
		}
		from, to = from-n, to-n
	}
	return all
}

func (p *shardRun) compute(ctx context.Context, sh Shard) error {
	ctx, endLog := dataset.WithRunLog(ctx, p.Log)
	defer endLog()
	stop := p.watch()
	defer stop()
	if err := p.build(ctx); err != nil {
		return err
	}
	for _, s := range p.ranged() {
		if err := p.computeShard(p.context(ctx), s, sh); err != nil {
			return p.failed(ctx, s, err)
		}
		p.events.ended(s)
	}
	return nil
}

func (p *shardRun) computeShard(ctx context.Context, s *state, sh Shard) error {
	ranges := p.rangesOf(s, sh)
	total := 0
	for _, r := range ranges {
		total += r.To - r.From
	}
	s.samples = int64(total)
	s.stats.Done.Store(0)
	s.stats.Total.Store(int64(total))
	filter := &failureFilter{run: p.run, state: s, most: p.onError(s).most(int(count(s.data)))}
	for _, r := range ranges {
		part, err := dataset.CachedPart(s.data.Parts[r.Part]), error(nil)
		if p.skipsCached(s) {
			_, err = filter.part(ctx, s.place(s.data.Names, r.Part), part, r.From, r.To)
		} else {
			err = p.computeRange(ctx, s, part, r.From, r.To)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shardReport is the report of the nodes that were built. Together the shards report each
// skipped sample once.
func (p *shardRun) shardReport(ctx context.Context, sh Shard, err error, took time.Duration) *Report {
	r := p.report(ctx, err, took)
	r.Shard, r.Skips = sh.String(), nil
	for _, s := range p.states {
		if s.stage == p.stage || s.stage == 0 && p.stage == 1 && sh.Index == 1 {
			r.Skips = append(r.Skips, s.skipped...)
		}
	}
	r.Nodes = slices.DeleteFunc(r.Nodes, func(n NodeReport) bool { return p.state(n.Name).data.Parts == nil })
	return r
}
