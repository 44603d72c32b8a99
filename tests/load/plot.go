package load

import (
	"image/color"
	"io"

	chart "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// The drawing's size and colours, which can be told apart without seeing red or green.
const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 9 * vg.Centimeter
	plotMargin = 3 * vg.Millimeter
)

var (
	actionColour   = color.RGBA{R: 0x1b, G: 0x6c, B: 0xa8, A: 0xff}
	transferColour = color.RGBA{R: 0xd9, G: 0x6b, B: 0x0b, A: 0xff}
)

// draw draws how many of the actions and of the transfers have been confirmed within which time, as SVG.
func (r *Result) draw(w io.Writer) error {
	p := chart.New()
	p.Title.Text = "Confirmed within"
	p.Title.Padding = plotMargin
	p.X.Label.Text = "seconds from the first broadcast"
	p.Y.Label.Text = "percent"
	p.X.Min, p.Y.Min, p.Y.Max = 0, 0, hundred
	p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = plotMargin/2, -plotMargin, plotMargin
	p.Add(plotter.NewGrid())
	for _, curve := range []struct {
		name   string
		among  func(*record) bool
		colour color.Color
	}{
		{"Haggle actions", isAction, actionColour},
		{"plain SPL transfers", isTransferInStage, transferColour},
	} {
		if all := latenciesOf(r.records, confirmation, curve.among); len(all) > 0 {
			line, err := plotter.NewLine(all.percentiles())
			if err != nil {
				return err
			}
			line.Color = curve.colour
			p.Add(line)
			p.Legend.Add(curve.name, line)
		}
	}
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.Crop(draw.New(canvas), plotMargin, -plotMargin, plotMargin, -plotMargin))
	_, err := canvas.WriteTo(w)
	return err
}

// percentiles are a point for each percent.
func (l latencies) percentiles() (points plotter.XYs) {
	for percent := range hundred + 1 {
		points = append(points, plotter.XY{X: l.quantile(percent).Seconds(), Y: float64(percent)})
	}
	return points
}
