package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/loader"
	"github.com/larder-data/larder/order"
)

// openRequest says what to read, as in docs/reference/protocol.md. Its JSON
// identifies it: clients that send the same JSON share a pipeline.
type openRequest struct {
	Flow     flowSpec          `json:"flow"`
	Set      map[string]string `json:"set,omitempty"`
	Profile  string            `json:"profile,omitempty"`
	Parts    []partSpec        `json:"parts"`
	Order    string            `json:"order,omitempty"`
	Seed     uint64            `json:"seed,omitempty"`
	Draws    int               `json:"draws,omitempty"`
	Stop     string            `json:"stop,omitempty"`
	Batch    batchSpec         `json:"batch"`
	Length   *lengthSpec       `json:"length,omitempty"`
	LastStep string            `json:"last_step,omitempty"`
	Fields   []fieldSpec       `json:"fields,omitempty"`
	Skip     int               `json:"skip,omitempty"`
	Python   string            `json:"python,omitempty"`
}

type flowSpec struct {
	File string `json:"file,omitempty"`
	Text string `json:"text,omitempty"`
	Dir  string `json:"dir,omitempty"`
}

type partSpec struct {
	Node   string    `json:"node"`
	Name   string    `json:"name,omitempty"`
	Weight float64   `json:"weight,omitempty"`
	Only   *onlySpec `json:"only,omitempty"`
}

// onlySpec is a list of numbers, or a range.
type onlySpec struct {
	list           []int
	From, To, Step *int
}

// onlyRange is a range as JSON.
type onlyRange struct {
	From *int `json:"from"`
	To   *int `json:"to"`
	Step *int `json:"step"`
}

func (o *onlySpec) MarshalJSON() ([]byte, error) {
	if o.list != nil {
		return json.Marshal(o.list)
	}
	return json.Marshal(onlyRange{o.From, o.To, o.Step})
}

func (o *onlySpec) UnmarshalJSON(text []byte) error {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("[")) {
		return json.Unmarshal(text, &o.list)
	}
	var r onlyRange
	err := decode(text, &r)
	o.From, o.To, o.Step = r.From, r.To, r.Step
	return err
}

// order returns the selection of n samples.
func (o *onlySpec) order(n int) (order.Order, error) {
	if o.list != nil {
		return order.Index(n, o.list)
	}
	return order.Slice(n, o.From, o.To, o.Step)
}

type batchSpec struct {
	Size         int    `json:"size,omitempty"`
	Tokens       int    `json:"tokens,omitempty"`
	CountPadding bool   `json:"count_padding,omitempty"`
	Buckets      []int  `json:"buckets,omitempty"`
	Row          int    `json:"row,omitempty"`
	Window       int    `json:"window,omitempty"`
	Split        bool   `json:"split,omitempty"`
	LastBatch    string `json:"last_batch,omitempty"`
}

type lengthSpec struct {
	Item       string `json:"item,omitempty"`
	Expression string `json:"expression,omitempty"`
}

type fieldSpec struct {
	Item      string           `json:"item"`
	Name      string           `json:"name,omitempty"`
	Collate   loader.Collation `json:"collate,omitempty"`
	DType     string           `json:"dtype,omitempty"`
	Scale     float64          `json:"scale,omitempty"`
	Mean      []float64        `json:"mean,omitempty"`
	Deviation []float64        `json:"deviation,omitempty"`
	Planar    bool             `json:"planar,omitempty"`
	Channels  int              `json:"channels,omitempty"`
	Dims      int              `json:"dims,omitempty"`
	Multiple  int              `json:"multiple,omitempty"`
	With      float64          `json:"with,omitempty"`
}

// startRequest says which batches a reader returns.
type startRequest struct {
	Rank      int           `json:"rank"`
	WorldSize int           `json:"world_size"`
	Share     int           `json:"share"`
	Shares    int           `json:"shares"`
	From      *loader.State `json:"from"`
	Epoch     *uint64       `json:"epoch"`
	Epochs    int           `json:"epochs"`
	Window    *int          `json:"window"`
	Ring      int64         `json:"ring"`
	Again     bool          `json:"again"` // reuse the ring of the last reader
}

// decode parses one JSON object without unknown members.
func decode(text []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("%s cannot be a %s", wrong.Field, wrong.Value)
		}
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is more than one JSON object")
	}
	return nil
}

// choose returns the value with a name, or an error that lists the names. The first
// is the default.
func choose[T any](what, name string, names []string, values []T) (v T, err error) {
	if name == "" {
		return values[0], nil
	}
	for i, n := range names {
		if n == name {
			return values[i], nil
		}
	}
	return v, fmt.Errorf("%s is %q; it can be %q", what, name, names)
}

// plan returns the order and the batches of the request, without the parts.
func (o *openRequest) plan() (p loader.PlanOptions, err error) {
	p.Seed, p.Draws = o.Seed, o.Draws
	b := o.Batch
	p.Batch = loader.BatchOptions{Size: b.Size, Tokens: b.Tokens, CountPadding: b.CountPadding, Buckets: b.Buckets, Row: b.Row, Window: b.Window, Split: b.Split}
	if p.Order, err = choose("order", o.Order, []string{"sequential", "shuffled", "replacement", "mixed"}, []loader.Kind{loader.Sequential, loader.Shuffled, loader.WithReplacement, loader.Mixed}); err != nil {
		return p, err
	}
	if p.Stop, err = choose("stop", o.Stop, []string{"draws", "first", "all"}, []order.Stop{order.AfterDraws, order.FirstEnds, order.AllEnd}); err != nil {
		return p, err
	}
	if p.LastStep, err = choose("last_step", o.LastStep, []string{"pad", "drop", "uneven"}, []loader.LastStep{loader.PadLastStep, loader.DropLastStep, loader.UnevenLastStep}); err != nil {
		return p, err
	}
	p.Batch.LastBatch, err = choose("last_batch", b.LastBatch, []string{"keep", "drop", "pad"}, []loader.LastBatch{loader.KeepLastBatch, loader.DropLastBatch, loader.PadLastBatch})
	return p, err
}

// fields returns the declared fields.
func (o *openRequest) fields() ([]loader.FieldOptions, error) {
	var all []loader.FieldOptions
	for _, f := range o.Fields {
		to := loader.FieldOptions{Item: f.Item, Name: f.Name, Collate: f.Collate, Scale: f.Scale, Mean: f.Mean, Deviation: f.Deviation, Planar: f.Planar, Channels: f.Channels, Dims: f.Dims, Multiple: f.Multiple, With: f.With}
		if f.DType != "" {
			var err error
			if to.DType, err = array.ParseDType(f.DType); err != nil {
				return nil, fmt.Errorf("field %s: %w", f.Item, err)
			}
		}
		all = append(all, to)
	}
	return all, nil
}

// check refuses errors that are visible before anything is opened.
func (o *openRequest) check() error {
	switch {
	case (o.Flow.File == "") == (o.Flow.Text == ""):
		return errors.New("flow: give it a file or a string")
	case o.Flow.File != "" && !filepath.IsAbs(o.Flow.File), o.Flow.Text != "" && !filepath.IsAbs(o.Flow.Dir):
		return errors.New("flow: its path must be absolute, as the server is in another directory")
	case o.Python != "" && !filepath.IsAbs(o.Python):
		return errors.New("python: its path must be absolute, as the server is in another directory")
	case len(o.Parts) == 0:
		return errors.New("parts: name the node to read")
	}
	return nil
}
