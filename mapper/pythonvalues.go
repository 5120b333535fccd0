package mapper

import (
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"strings"

	"github.com/larder-data/larder/array"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/internal/called"
	"github.com/larder-data/larder/internal/pyworker"
)

// A message is samples on their way to a worker.
type message struct {
	samples int
	values  []*given
	bytes   int64
}

// A given is the value of an item, of which the data may not have been read yet.
type given struct {
	workerValue
	item   string
	size   int
	unread dataset.ArrayOrigin // in place of data
	img    image.Image         // in place of data
}

// messageHead is the number of samples.
const messageHead = 8

// message reads the items of samples: of all that are to be together, or of the first ones
// if they are large.
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
				return nil, fmt.Errorf("item %s: %w", called.Name(name), err)
			}
			g.item = name
			m.values = append(m.values, g)
			m.bytes += g.sized(g.size)
		}
	}
	return m, nil
}

// givenOf is an item as the function gets it: as its file has it, or by its value.
func givenOf(ctx context.Context, it *dataset.Item, encoded bool) (g *given, err error) {
	g = &given{}
	if encoded {
		g.form = asBytes
		g.data, err = it.Bytes(ctx)
		g.size = len(g.data)
		return g, err
	}
	if o, ok := it.Unread(); ok {
		g.unread = o
		g.dtype, g.shape = o.Array()
		g.size, err = array.Bytes(g.dtype, g.shape)
		return g, err
	}
	ext, err := it.Ext(ctx)
	if err != nil {
		return nil, err
	}
	if strings.EqualFold(ext, "json") { // as it is: a document in Python has an order
		g.form = asJSON
		g.data, err = it.Bytes(ctx)
		g.size = len(g.data)
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
		g.form, g.data = asText, []byte(v)
	case []byte:
		g.form, g.data = asBytes, v
	case *array.Array:
		err = v.Validate()
		g.dtype, g.shape, g.data = v.DType, v.Shape, v.Data
	case array.Array:
		err = v.Validate()
		g.dtype, g.shape, g.data = v.DType, v.Shape, v.Data
	case image.Image:
		g.form, g.img = asImage, v
		if _, inks := v.(*image.CMYK); inks {
			g.form = asCMYK
		}
		if g.dtype, g.shape, err = array.ImageShape(v, 0); err == nil {
			g.size, err = array.Bytes(g.dtype, g.shape)
		}
		return err
	default:
		g.form = asJSON
		if g.data, err = dataset.NewItem("json", v).Bytes(ctx); err != nil {
			err = fmt.Errorf("%w; it can be given as bytes", err)
		}
	}
	g.size = len(g.data)
	return err
}

// fill writes the message.
func (m *message) fill(to []byte) error {
	binary.LittleEndian.PutUint64(to, uint64(m.samples))
	to = to[messageHead:]
	for _, g := range m.values {
		data := g.putHead(to, g.size)
		switch {
		case g.unread != nil:
			if err := g.unread.ReadArray(data); err != nil {
				return fmt.Errorf("item %s: %w", called.Name(g.item), err)
			}
		case g.img != nil:
			if _, err := array.AppendImage(data[:0], g.img, 0); err != nil {
				return fmt.Errorf("item %s: %w", called.Name(g.item), err)
			}
		default:
			copy(data, g.data)
		}
		to = to[g.sized(g.size):]
	}
	return nil
}

// A reply is what a function is to make of some samples.
type reply struct {
	function string
	into     []string
	samples  int
	most     int // bytes of one
}

// read reads what it made of each sample, and of which it made nothing.
func (r reply) read(answer []byte) (outs []dataset.Sample, failed map[int]error, err error) {
	outs, failed = make([]dataset.Sample, r.samples), map[int]error{}
	for i := range outs {
		size := 0
		for _, name := range r.into {
			v, rest, err := readValue(answer)
			if err != nil {
				return nil, nil, err
			}
			answer = rest
			if v.form == asError { // in place of all items
				failed[i] = fmt.Errorf("%s: %w", r.function, &pyworker.FunctionError{Text: string(v.data)})
				break
			}
			if size += len(v.data); size > r.most {
				failed[i] = fmt.Errorf("%s: what it returned has %d bytes, and may have %d (max-bytes)", r.function, size, r.most)
				continue
			}
			it, err := made(v)
			if err != nil {
				return nil, nil, fmt.Errorf("item %s: %w", called.Name(name), err)
			}
			outs[i] = outs[i].WithItem(name, it)
		}
	}
	return outs, failed, nil
}

// made is the item of what a function returned.
func made(v workerValue) (*dataset.Item, error) {
	data := append([]byte(nil), v.data...) // the worker's memory is written to again
	switch v.form {
	case asText:
		return dataset.NewItem("txt", string(data)), nil
	case asBytes:
		return dataset.NewItem("bin", data), nil
	case asJSON:
		return dataset.CheckedBytes("json", data)
	case asImage:
		img, err := array.Array{DType: v.dtype, Shape: v.shape, Data: data}.Image()
		return dataset.NewItem("png", img), err
	}
	a, err := array.New(v.dtype, v.shape, data)
	return dataset.NewItem("npy", a), err
}
