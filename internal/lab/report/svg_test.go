package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"
)

func drawn(t *testing.T) string {
	t.Helper()
	p := NewPlot("a < b & c", "x", "y")
	line, marks, err := plotter.NewLinePoints(plotter.XYs{{X: 0, Y: 1}, {X: 2, Y: 3}})
	require.NoError(t, err)
	line.Color, marks.Color, marks.Shape = Blue, Blue, draw.CircleGlyph{}
	p.Add(line, marks)
	p.Legend.Add("line", line, marks)
	var picture bytes.Buffer
	require.NoError(t, WriteSVG(&picture, p))
	return picture.String()
}

func TestAPictureIsWellFormed(t *testing.T) {
	decoder := xml.NewDecoder(bytes.NewReader([]byte(drawn(t))))
	for {
		if _, err := decoder.Token(); err != nil {
			require.True(t, errors.Is(err, io.EOF), "%v", err)
			return
		}
	}
}

func TestAPictureUsesTheReadersFontAnchorsAndDarkMode(t *testing.T) {
	picture := drawn(t)
	require.Contains(t, picture, "font-family:system-ui,")
	require.Contains(t, picture, "sans-serif}")
	require.NotContains(t, picture, "Liberation")
	require.Contains(t, picture, "@media (prefers-color-scheme:dark)")
	require.Regexp(t, `<text class="ink" x="[0-9.]+" y="[0-9.]+" font-size="12" text-anchor="middle">a &lt; b &amp; c</text>`, picture)
	require.Regexp(t, `text-anchor="end">0(\.0)?</text>`, picture, "a number at the y axis")
	require.Regexp(t, `text-anchor="middle" transform="rotate\(-90 [0-9.]+ [0-9.]+\)">y</text>`, picture)
	require.Contains(t, picture, `<path class="line blue"`)
	require.Contains(t, picture, `<path class="area blue"`)
	require.NotRegexp(t, `<path[^>]*#[0-9a-f]{6}`, picture, "colours are in the style sheet")
}
