package mapper_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/larder-data/larder/dataset"
	"github.com/larder-data/larder/mapper"
)

// oriented returns a PNG of the pixels 1 2 3, 4 5 6 with an orientation.
func oriented(t *testing.T, orientation uint16) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 3, 2))
	copy(img.Pix, []uint8{1, 2, 3, 4, 5, 6})
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	exif := append([]byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01"), byte(orientation>>8), byte(orientation), 0, 0)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(exif)))
	chunk = append(append(chunk, "eXIf"...), exif...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	const header = 8 + 25 // signature and IHDR
	return slices.Insert(b.Bytes(), header, chunk...)
}

func TestImageOrient(t *testing.T) {
	m, err := mapper.ImageOrient{}.Transform()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]uint8{
		{1, 2, 3, 4, 5, 6},
		{1, 2, 3, 4, 5, 6},
		{3, 2, 1, 6, 5, 4},
		{6, 5, 4, 3, 2, 1},
		{4, 5, 6, 1, 2, 3},
		{1, 4, 2, 5, 3, 6},
		{4, 1, 5, 2, 6, 3},
		{6, 3, 5, 2, 4, 1},
		{3, 6, 2, 5, 1, 4},
	} {
		var log bytes.Buffer
		ctx := dataset.WithLog(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
		b := oriented(t, uint16(i))
		s := dataset.NewSample(dataset.Field{Key: "image", Item: dataset.NewBytes("png", b)})
		got, err := one(ctx, t, m, nil, s)
		if err != nil || !slices.Equal(got.Pix, want) || (got.Rect.Dx() == 2) != (i >= 5) {
			t.Errorf("orientation %d: %v, %v, want %v", i, got, err, want)
		}
		if log.Len() > 0 {
			t.Errorf("orientation %d: %s", i, log.String())
		}
	}
	// Bytes that another mapper returns are turned, too.
	bytesOf, err := dataset.NewTransform(dataset.TransformFunc{
		Name: "bytes", Out: []string{"image"}, Formats: []string{"png"},
		Func: func(context.Context, dataset.Sample) (dataset.Sample, error) {
			return dataset.NewSample(dataset.Field{Key: "image", Item: dataset.NewBytes("png", oriented(t, 6))}), nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	computed, err := dataset.Map(dataset.List(dataset.NewSample()), bytesOf, dataset.MapOptions{}).At(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := one(t.Context(), t, m, nil, computed); err != nil || !slices.Equal(got.Pix, []uint8{4, 1, 5, 2, 6, 3}) {
		t.Errorf("computed bytes: %v, %v", got, err)
	}
	// Without the mapper there is a warning, for the first image alone.
	var log bytes.Buffer
	ctx := dataset.WithLog(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
	for _, o := range []uint16{1, 6, 3} {
		if _, err := dataset.NewBytes("png", oriented(t, o)).Value(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if text := log.String(); strings.Count(text, "orientation of images is ignored") != 1 || !strings.Contains(text, "orientation=6") {
		t.Errorf("the log is %q", text)
	}
}
