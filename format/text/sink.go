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
	component.RegisterSink("text", "Writes a string item of each sample to a plain text file, as a line or a paragraph. An input with several outputs is written to files NAME.txt in a directory. A file appears complete or not at all.",
		func(ctx context.Context, env *component.Env, p Sink, in component.Data) error {
			return p.Write(ctx, env, in)
		})
}

// Sink configures the texts to write.
type Sink struct {
	Path         component.Path   `param:"path,required" doc:"the file to write, or for several outputs the directory; also a URL: s3://"`
	Overwrite    output.Overwrite `param:"overwrite" doc:"what to do with an existing file: fail (forbid), or replace it (replace)" default:"forbid" enum:"forbid|replace"`
	Compress     rows.Packing     `param:"compress" doc:"none, gzip or zstd; default: by the extension .gz or .zst" enum:"none|gzip|zstd"`
	By           By               `param:"by" doc:"unit of a string: a line (line), or lines followed by a blank line (paragraph)" default:"line" enum:"line|paragraph"`
	Item         string           `param:"item" doc:"the item to write, which must be a string" default:"text"`
	ShardBytes   component.Size   `param:"shard-bytes" doc:"maximum size of a file, such as 256MiB: the path is then a directory of files, in which 000000.txt has as many samples as fit, followed by 000001.txt and so on. For files compressed as a whole, bytes are counted before compression"`
	ShardSamples int              `param:"shard-samples" doc:"maximum number of samples in a file; with shard-bytes, the limit that is reached first counts; 0 means no limit" default:"0"`
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
		return nil, component.Unfit(fmt.Errorf("item %s is %s, not a string; convert it first, or choose another item", display.Name(item), display.Value(v)))
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
		return errors.New("the string begins with a byte order mark; remove it")
	}
	if strings.HasSuffix(text, "\r") {
		return errors.New("the string ends with a carriage return; remove it")
	}
	if s.By != Paragraph {
		if strings.Contains(text, "\n") {
			return errors.New("the string has several lines; set by: paragraph, or remove line breaks")
		}
		return nil
	}
	for l := range strings.SplitSeq(text, "\n") {
		if strings.Trim(l, blanks) == "" {
			return errors.New("the string is empty or has a blank line, which ends a paragraph; change it")
		}
	}
	return nil
}
