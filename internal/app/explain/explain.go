// Package explain provides the reason why a result is not cached, and the
// dependencies of cached results.
//
// The provenance of a record describes its dependencies, part by part (package
// key). A [Difference] compares such a description with the most similar one:
// [Nearest] finds it for a requested computation, [Record] for a cached result. A
// [Tree] is a result with all its dependencies, as far as the store knows them.
package explain

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/larder-data/larder"
	"github.com/larder-data/larder/internal/app/records"
	"github.com/larder-data/larder/internal/codeid/analysis"
	"github.com/larder-data/larder/internal/codeid/known"
	"github.com/larder-data/larder/key"
	"github.com/larder-data/larder/store"
)

// A Difference is the difference between a computation and a cached result.
type Difference struct {
	Node    string    // the operation
	Nearest key.Key   // the most similar result, the latest of several; zero if there is none
	Created time.Time // of Nearest
	Changes []string  // "times: changed (100 -> 3)", "code: func calc.helper changed (calc/calc.go:12)"
}

// Nearest compares an action with the stored results of the same operation, except
// that with the action's own key. It reads the provenance of every record.
func Nearest(ctx context.Context, l *larder.Larder, a *key.Action) (Difference, error) {
	return nearest(ctx, l, a.Op().Name(), a.Parts(), l.Key(a.Key()), time.Time{})
}

// Record compares a stored result with older ones of the same operation.
func Record(ctx context.Context, l *larder.Larder, k key.Key) (Difference, error) {
	k = l.Key(k)
	reader := records.ProvenanceReader{Store: l.Store()}
	parts, err := reader.Parts(ctx, k)
	if err != nil {
		return Difference{}, err
	}
	for info, err := range l.Store().Records(ctx) {
		if err != nil {
			return Difference{}, err
		}
		if info.Key == k {
			return nearest(ctx, l, operation(parts), parts, k, info.Created)
		}
	}
	return Difference{}, fmt.Errorf("explain: %s: %w", k, store.ErrNotFound)
}

func operation(parts []key.Part) string {
	for _, p := range parts {
		if p.Kind == key.OpPart {
			return p.Value
		}
	}
	return ""
}

func nearest(ctx context.Context, l *larder.Larder, name string, now []key.Part, own key.Key, before time.Time) (Difference, error) {
	best := Difference{Node: name}
	var changes []key.Change
	reader := records.ProvenanceReader{Store: l.Store()}
	for info, err := range l.Store().Records(ctx) {
		if err != nil {
			return best, err
		}
		if info.Key == own || !before.IsZero() && !info.Created.Before(before) {
			continue
		}
		provenance, err := reader.Store.Provenance(ctx, info.Key)
		if err != nil {
			continue
		}
		if op, _ := reader.Operation(ctx, provenance); op != name {
			continue // unreadable parts explain nothing
		}
		then, err := reader.Read(ctx, provenance)
		if err != nil {
			continue
		}
		diff := key.Diff(comparable(then), comparable(now))
		if len(diff) == 0 {
			continue // the same computation in another notation
		}
		if best.Nearest.IsZero() || less(diff, changes) || len(diff) == len(changes) && info.Created.After(best.Created) {
			best.Nearest, best.Created, changes = info.Key, info.Created, diff
		}
	}
	for _, c := range changes {
		best.Changes = append(best.Changes, Change(ctx, l, c)...)
	}
	return best, nil
}

func less(a, b []key.Change) bool { return len(a) < len(b) }

// comparable leaves out dynamic dependencies, which are unknown before a
// computation has run.
func comparable(parts []key.Part) []key.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p key.Part) bool { return p.Kind == key.ReadPart })
}

// Change describes a change in one or more lines. It lists changes of code by
// declaration, where both closures are known.
func Change(ctx context.Context, l *larder.Larder, c key.Change) []string {
	if c.New.Kind == key.CodePart && c.Old.Kind == key.CodePart {
		before, after := closure(ctx, l, c.Old.Value), closure(ctx, l, c.New.Value)
		if before != nil && after != nil {
			return compare(before, after)
		}
	}
	return []string{c.String()}
}

// closure returns the parts of a code identity "source d1-..." or "program
// d1-...", or nil.
func closure(ctx context.Context, l *larder.Larder, code string) []analysis.Part {
	kind, text, ok := strings.Cut(code, " ")
	if !ok || kind != string(analysis.Precise) && kind != string(analysis.Program) {
		return nil
	}
	id, err := key.ParseDigest(text)
	if err != nil {
		return nil
	}
	return known.ClosureParts(ctx, l, id)
}

func compare(before, after []analysis.Part) []string {
	old := map[string][]analysis.Part{}
	for _, p := range before {
		old[p.Name] = append(old[p.Name], p)
	}
	var lines []string
	for _, p := range after {
		was := old[p.Name]
		if len(was) == 0 {
			lines = append(lines, fmt.Sprintf("code: %s added (%s)", p.Name, p.Where))
			continue
		}
		same := slices.IndexFunc(was, func(o analysis.Part) bool { return o.Digest == p.Digest })
		old[p.Name] = slices.Delete(slices.Clone(was), max(same, 0), max(same, 0)+1)
		if same < 0 {
			lines = append(lines, fmt.Sprintf("code: %s changed (%s)", p.Name, p.Where))
		}
	}
	for _, p := range before {
		if slices.Contains(old[p.Name], p) {
			lines = append(lines, fmt.Sprintf("code: %s removed (%s)", p.Name, p.Where))
		}
	}
	return lines
}
