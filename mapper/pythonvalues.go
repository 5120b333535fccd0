package mapper

import (
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/app/pyfunction"
	"github.com/larder-data/larder/internal/text/display"
)

// A message holds samples for a worker.
type message struct {
	samples int
	values  []*given
	bytes   int64
}

// A given is the value of an item, whose data may not have been read yet.
type given struct {
	pyfunction.Value
	item   string
	size   int
	unread dataset.ArrayOrigin // instead of data
	img    image.Image         // instead of data
}

// messageHead is the size of the number of samples.
const messageHead = 8

// message reads the items of samples: of all that form a batch, or of the first ones if
// they are large.
func (c *calls) message(ctx context.Context, samples []dataset.Sample) (*message, error) {
	m := &message{bytes: messageHead}
	for _, s := range samples {
		if c.alone && m.bytes > fewBytes {
			break
		}
		m.samples++
		for i, name := range c.items {
			it, err := s.Item(name)
			if err != nil {
				return nil, err
			}
			g, err := givenOf(ctx, it, c.as[i] == "bytes")
			if err != nil {
				return nil, fmt.Errorf("item %s: %w", display.Name(name), err)
			}
			g.item = name
			m.values = append(m.values, g)
			m.bytes += g.Sized(g.size)
		}
	}
	return m, nil
}

// givenOf returns an item in the form for the function: the bytes of its file, or its
// value.
func givenOf(ctx context.Context, it *dataset.Item, encoded bool) (g *given, err error) {
	g = &given{}
	if encoded {
		g.Form = pyfunction.AsBytes
		g.Data, err = it.Bytes(ctx)
		g.size = len(g.Data)
		return g, err
	}
	if o, ok := it.Unread(); ok {
		g.unread = o
		g.DType, g.Shape = o.Array()
		g.size, err = array.Bytes(g.DType, g.Shape)
		return g, err
	}
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(ext, "json") { // unchanged: a document in Python has an order
		g.Form = pyfunction.AsJSON
		g.Data, err = it.Bytes(ctx)
		g.size = len(g.Data)
		return g, err
	}
	v, err := it.Value(ctx)
	if err != nil {
		return nil, err
	}
	err = g.set(ctx, v)
	return g, err
}

func (g *given) set(ctx context.Context, v any) (err error) {
	switch v := v.(type) {
	case string:
		g.Form, g.Data = pyfunction.AsText, []byte(v)
	case []byte:
		g.Form, g.Data = pyfunction.AsBytes, v
	case *array.Array:
		err = v.Validate()
		g.DType, g.Shape, g.Data = v.DType, v.Shape, v.Data
	case array.Array:
		err = v.Validate()
		g.DType, g.Shape, g.Data = v.DType, v.Shape, v.Data
	case image.Image:
		g.Form, g.img = pyfunction.AsImage, v
		if _, inks := v.(*image.CMYK); inks {
			g.Form = pyfunction.AsCMYK
		}
		if g.DType, g.Shape, err = array.ImageShape(v, 0); err == nil {
			g.size, err = array.Bytes(g.DType, g.Shape)
		}
		return err
	default:
		g.Form = pyfunction.AsJSON
		if g.Data, err = dataset.NewItem("json", v).Bytes(ctx); err != nil {
			err = fmt.Errorf("%w; use as: bytes", err)
		}
	}
	g.size = len(g.Data)
	return err
}

func (m *message) fill(to []byte) error {
	binary.LittleEndian.PutUint64(to, uint64(m.samples))
	to = to[messageHead:]
	for _, g := range m.values {
		data := g.PutHead(to, g.size)
		switch {
		case g.unread != nil:
			if err := g.unread.ReadArray(data); err != nil {
				return fmt.Errorf("item %s: %w", display.Name(g.item), err)
			}
		case g.img != nil:
			if _, err := array.AppendImage(data[:0], g.img, 0); err != nil {
				return fmt.Errorf("item %s: %w", display.Name(g.item), err)
			}
		default:
			copy(data, g.Data)
		}
		to = to[g.Sized(g.size):]
	}
	return nil
}

// replies describes the expected results for some samples.
type replies struct {
	samples int
	pyfunction.Reply
}

// read reads the results of the samples, and the errors of those that failed.
func (r replies) read(answer []byte) (outs []dataset.Sample, failed map[int]error, err error) {
	outs, failed = make([]dataset.Sample, r.samples), map[int]error{}
	for i := range outs {
		var why error
		if outs[i], answer, why, err = r.Read(answer); err != nil {
			return nil, nil, err
		}
		if why != nil {
			failed[i] = why
		}
	}
	return outs, failed, nil
}
