package report

import (
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 9 * vg.Centimeter
	plotMargin = 3 * vg.Millimeter
)

// The plot colors. They are also distinguishable for color-blind readers.
var (
	Blue   = color.RGBA{R: 0x1b, G: 0x6c, B: 0xa8, A: 0xff}
	Orange = color.RGBA{R: 0xd9, G: 0x6b, B: 0x0b, A: 0xff}
	Green  = color.RGBA{R: 0x1a, G: 0x7f, B: 0x37, A: 0xff}
	Grey   = color.RGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff}
)

// sans is the font used to lay out plots. The reader's own is similar.
const sans font.Variant = "Sans"

// NewPlot returns a plot with a grid. The y axis begins at zero.
func NewPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.Padding = plotMargin
	p.BackgroundColor = nil // the picture sets a background
	p.Y.Min = 0
	p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = plotMargin/2, -plotMargin, plotMargin
	p.TextHandler = textHandler(p)
	for _, style := range []*text.Style{
		&p.Title.TextStyle, &p.X.Label.TextStyle, &p.X.Tick.Label, &p.Y.Label.TextStyle, &p.Y.Tick.Label, &p.Legend.TextStyle,
	} {
		SetText(p, style)
	}
	p.Add(plotter.NewGrid())
	return p
}

// SetText sets a plot text's font and handler. The plotters' texts need it too.
func SetText(p *plot.Plot, style *text.Style) {
	style.Font.Variant, style.Handler = sans, p.TextHandler
}

func textHandler(p *plot.Plot) text.Handler {
	if known, is := p.TextHandler.(text.Plain); is {
		return anchored{known}
	}
	return p.TextHandler
}

// WriteSVG writes a plot of NewPlot as SVG.
func WriteSVG(w io.Writer, p *plot.Plot) error {
	canvas := &svg{width: plotWidth, height: plotHeight}
	p.Draw(draw.Crop(draw.New(canvas), plotMargin, -plotMargin, plotMargin, -plotMargin))
	_, err := canvas.WriteTo(w)
	return err
}
