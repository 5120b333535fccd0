package text

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/larder-data/larder/component"
	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/format/internal/rows"
	"github.com/larder-data/larder/format/output"
	"github.com/larder-data/larder/internal/text/display"
)

func init() {
	component.RegisterSink("text", "Writes a text of each sample to a file of plain text, as a line or a paragraph; of an input with several outputs, to a file NAME.txt each in a folder. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the texts to write.
type Sink struct {
	Path         component.Path   `param:"path,required" doc:"the file to write; of several outputs, the folder; also a URL: s3://"`
	Overwrite    output.Overwrite `param:"overwrite" doc:"what to do with a file that is already there: fail (forbid), or put the new one in its place (replace)" default:"forbid" enum:"forbid|replace"`
	Compress     rows.Packing     `param:"compress" doc:"none, gzip or zstd; without it as the name of the file says, .gz or .zst" enum:"none|gzip|zstd"`
	By           By               `param:"by" doc:"what becomes of a text: a line (line), or lines with a blank one behind them (paragraph)" default:"line" enum:"line|paragraph"`
	Item         string           `param:"item" doc:"the item to write, which must be a text" default:"text"`
	ShardBytes   component.Size   `param:"shard-bytes" doc:"a bound for the bytes of a file, such as 256MiB: the path is a folder then, in which a file 000000.txt has as many samples as fit, and the next ones are in 000001.txt and so on. Of files that are compressed as a whole, bytes are counted before"`
	ShardSamples int              `param:"shard-samples" doc:"a bound for the samples of a file, as shard-bytes is for its bytes; with both, whichever is reached first; 0 for none" default:"0"`
}

// Delegate returns the files to write.
func (s Sink) Delegate() any { return s.files() }

func (s Sink) files() rows.Sink {
	return rows.Sink{
		Target:   rows.Target{Path: s.Path, Overwrite: s.Overwrite, Ending: ".txt", Shards: rows.Shards{Bytes: s.ShardBytes, Samples: s.ShardSamples}},
		Compress: s.Compress,
		Begin: func(context.Context, string, component.Samples) ([]byte, rows.RowFunc, error) {
			return nil, s.row, nil
		},
	}
}

// Write writes a dataset. It refuses a string that would be read as another one, or as
// several.
func (s Sink) Write(ctx context.Context, env *component.Env, in component.Data) error {
	return s.files().Write(ctx, env, in)
}

func (s Sink) row(ctx context.Context, to []byte, sample dataset.Sample) ([]byte, error) {
	item := s.Item
	if item == "" {
		item = textKey
	}
	v, err := sample.Value(ctx, item)
	if err != nil {
		return nil, err
	}
	text, ok := v.(string)
	if !ok {
		return nil, component.Unfit(fmt.Errorf("item %s is %s, and no text; convert it before, or name another item", display.Name(item), display.Value(v)))
	}
	if err := s.fits(text); err != nil {
		return nil, component.Unfit(fmt.Errorf("item %s: %w", display.Name(item), err))
	}
	if to = append(append(to, text...), '\n'); s.By == Paragraph {
		to = append(to, '\n')
	}
	return to, nil
}

// fits refuses a string that reading would not restore.
func (s Sink) fits(text string) error {
	if strings.HasPrefix(text, byteOrderMark) {
		return errors.New("it begins with a byte order mark, which would be lost where it begins the file; remove it")
	}
	if strings.HasSuffix(text, "\r") {
		return errors.New("it ends with a carriage return, which would be taken for a part of the line's end; remove it")
	}
	if s.By != Paragraph {
		if strings.Contains(text, "\n") {
			return errors.New("it has several lines; say by: paragraph, or remove its line breaks")
		}
		return nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		if strings.Trim(l, blanks) == "" {
			return errors.New("it is empty or has a blank line, at which a paragraph ends; drop or change it")
		}
	}
	return nil
}
