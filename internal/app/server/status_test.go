package server

import (
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/loader"
)

// TestWhatAReaderIsBoundBy checks that the status names the slow stage since the last
// request.
func TestWhatAReaderIsBoundBy(t *testing.T) {
	stages := func(decode, resize float64) []loader.Stage {
		return []loader.Stage{{Name: "decode jpeg", Seconds: decode}, {Name: "map resize", Seconds: resize}}
	}
	before := &Status{Pipelines: []PipelineStatus{{Open: "a"}, {Open: "b", Stages: stages(9, 1)}}}
	now := &Status{Pipelines: []PipelineStatus{{Open: "b", Stages: stages(10, 4)}}}
	since := now.PipelineOf("b").Since(before.PipelineOf("b"))
	if len(since) != 2 || since[0].Name != "map resize" || since[0].Share != 0.75 || since[1].Seconds != 1 {
		t.Errorf("stages since before: %+v", since)
	}
	if still := now.PipelineOf("b").Since(now.PipelineOf("b")); !slices.Equal(still, stages(10, 4)) {
		t.Errorf("where nothing was measured since, they are %+v", still)
	}
	var none *Status
	if none.PipelineOf("b") != nil || now.PipelineOf("a") != nil {
		t.Error("a pipeline that is not there")
	}
	for _, c := range []struct {
		computing, full float64
		stages          []loader.Stage
		want            string
	}{
		{8, 1, since, "map resize: 75 % of computing batches (80 % of the time)"},
		{8, 1, nil, "computing batches (80 % of the time)"},
		{1, 9, since, "its client (90 % of the time)"},
		{4, 4, since, "neither side"},
	} {
		r := ReaderStatus{Seconds: 10, SecondsComputing: c.computing, SecondsFull: c.full}
		if got := r.BoundBy(c.stages); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestStatusHasStages checks that the status and the metrics have the stages of readers.
func TestStatusHasStages(t *testing.T) {
	socket, s, _ := serverFor(t, Options{})
	c := connect(t, socket)
	c.send(kindOpen, rows(t, 20))
	c.want(kindOpened)
	c.send(kindStart, map[string]any{"epochs": 1})
	c.want(kindStarted)
	c.epoch()
	st := s.Status()
	names := []string{}
	for _, g := range st.Pipelines[0].Stages {
		names = append(names, g.Name)
	}
	if !slices.Contains(names, "find") || !slices.Contains(names, "collate") {
		t.Errorf("stages %q", names)
	}
	var text strings.Builder
	if err := st.WriteMetrics(&text); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(text.String(), `stage="collate"} `) {
		t.Errorf("metrics:\n%s", text.String())
	}
}
