package codec

import (
	"bytes"
	"image"
	"image/jpeg"
	"testing"
)

// TestReduction checks that an image is read at the smallest size whose sides are at least those requested.
func TestReduction(t *testing.T) {
	for _, c := range []struct{ whole, least image.Point }{
		{image.Pt(800, 400), image.Pt(100, 50)}, {image.Pt(807, 407), image.Pt(100, 0)}, {image.Pt(8, 8), image.Point{}},
	} {
		if by := reduction(c.whole, c.least); by != 8 {
			t.Errorf("%v for %v is divided by %d", c.whole, c.least, by)
		}
	}
	for least, want := range map[image.Point]int{{101, 50}: 4, {100, 51}: 4, {201, 0}: 2, {0, 200}: 2, {0, 201}: 1, {800, 400}: 1, {9999, 1}: 1} {
		if by := reduction(image.Pt(800, 400), least); by != want {
			t.Errorf("for %v the sides are divided by %d, want %d", least, by, want)
		}
	}
	if by := reduction(image.Pt(7, 9999), image.Point{}); by != 4 {
		t.Errorf("7 pixels are divided by %d", by)
	}
}

// TestMeans checks the means of squares, also of those that are cut off.
func TestMeans(t *testing.T) {
	gray := &image.Gray{Pix: []byte{0, 2, 9, 4, 6, 11, 20, 30, 41}, Stride: 3, Rect: image.Rect(0, 0, 3, 3)}
	if got := means(gray, 2).(*image.Gray); got.Rect != image.Rect(0, 0, 2, 2) || !bytes.Equal(got.Pix, []byte{3, 10, 25, 41}) {
		t.Errorf("%v", got)
	}
	rgba := &image.RGBA{Pix: []byte{0, 10, 20, 255, 4, 20, 200, 255}, Stride: 8, Rect: image.Rect(0, 0, 2, 1)}
	if got := means(rgba, 2).(*image.RGBA); !bytes.Equal(got.Pix, []byte{2, 15, 110, 255}) {
		t.Errorf("%v", got)
	}
}

// TestReduceSaysTheWhole checks that the full size is reported, and is read if no smaller size is requested.
func TestReduceSaysTheWhole(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 101, 67)), nil); err != nil {
		t.Fatal(err)
	}
	c, _ := ByExtension("jpg")
	for least, want := range map[image.Point]image.Point{{50, 33}: {51, 34}, {25, 0}: {26, 17}, {0, 0}: {13, 9}, {60, 0}: {101, 67}} {
		v, whole, err := c.Reduce(b.Bytes(), least)
		if err != nil || whole != image.Pt(101, 67) || v.(image.Image).Bounds().Size() != want {
			t.Errorf("for %v it is %v of %v, %v; want %v", least, v.(image.Image).Bounds(), whole, err, want)
		}
	}
	if _, _, err := c.Reduce(b.Bytes()[:40], image.Point{}); err == nil {
		t.Error("what is cut off is read")
	}
}
