package report

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 9 * vg.Centimeter
	plotMargin = 3 * vg.Millimeter
)

// The colours of plots, which differ also for readers with colour blindness.
var (
	Blue   = color.RGBA{R: 0x1b, G: 0x6c, B: 0xa8, A: 0xff}
	Orange = color.RGBA{R: 0xd9, G: 0x6b, B: 0x0b, A: 0xff}
	Grey   = color.RGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff}
)

// NewPlot returns a plot with a grid. Its y axis begins at zero.
func NewPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = plotMargin
	p.Y.Min = 0
	p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = plotMargin/2, -plotMargin, plotMargin
	p.Add(plotter.NewGrid())
	return p
}

// WriteSVG writes a plot as SVG.
func WriteSVG(w io.Writer, p *plot.Plot) error {
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.Crop(draw.New(canvas), plotMargin, -plotMargin, plotMargin, -plotMargin))
	_, err := canvas.WriteTo(w)
	return err
}
