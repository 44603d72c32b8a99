package demo

import (
	"fmt"
	"image/color"
	"io"
	"math"

	"github.com/gagliardetto/solana-go"
	chart "gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// The plot's size and colours, which differ also for readers with colour blindness.
const (
	plotWidth  = 16 * vg.Centimeter
	plotHeight = 9 * vg.Centimeter
	plotMargin = 3 * vg.Millimeter
)

var (
	buyerColour  = color.RGBA{R: 0x1b, G: 0x6c, B: 0xa8, A: 0xff}
	sellerColour = color.RGBA{R: 0xd9, G: 0x6b, B: 0x0b, A: 0xff}
	escrowColour = color.RGBA{R: 0x80, G: 0x80, B: 0x80, A: 0xff}
)

// plot writes bids, asks and the effective escrow of each round as SVG.
func plot(w io.Writer, a *account) error {
	p := chart.New()
	p.Title.Text = "Offers and the effective escrow"
	p.X.Label.Text = "round"
	p.Y.Label.Text = "tokens"
	p.Title.Padding = plotMargin
	p.Y.Min = 0
	p.X.Tick.Marker = chart.ConstantTicks(rounds(len(a.offers)))
	p.Legend.Padding, p.Legend.XOffs, p.Legend.YOffs = plotMargin/2, -plotMargin, plotMargin
	p.Add(plotter.NewGrid())

	escrow := plotter.XYs{{X: 0, Y: inTokens(a.created.EscrowAmount)}}
	for _, offer := range a.offers {
		escrow = append(escrow, plotter.XY{X: float64(offer.Round), Y: inTokens(offer.EffectiveEscrow)})
	}
	worth, err := plotter.NewLine(escrow)
	if err != nil {
		return err
	}
	worth.StepStyle, worth.Color = plotter.PostStep, escrowColour
	p.Add(worth)
	p.Legend.Add("effective escrow", worth)
	if err := addOffers(p, "buyer", a.offersOf(a.created.Buyer), buyerColour); err != nil {
		return err
	}
	if err := addOffers(p, "seller", a.offersOf(a.created.Seller), sellerColour); err != nil {
		return err
	}
	if a.settled != nil {
		p.Title.Text += fmt.Sprintf(": settled for %s", tokens(a.settled.SettledAmount))
	}
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.Crop(draw.New(canvas), plotMargin, -plotMargin, plotMargin, -plotMargin))
	_, err = canvas.WriteTo(w)
	return err
}

func addOffers(p *chart.Plot, name string, offers []protocol.OfferSubmitted, colour color.Color) error {
	var points plotter.XYs
	for _, offer := range offers {
		points = append(points, plotter.XY{X: float64(offer.Round), Y: inTokens(offer.Amount)})
	}
	line, marks, err := plotter.NewLinePoints(points)
	if err != nil {
		return err
	}
	line.Color, marks.Color, marks.Shape = colour, colour, draw.CircleGlyph{}
	p.Add(line, marks)
	p.Legend.Add(name, line, marks)
	return nil
}

func (a *account) offersOf(party solana.PublicKey) (found []protocol.OfferSubmitted) {
	for _, offer := range a.offers {
		if offer.Offerer == party {
			found = append(found, offer)
		}
	}
	return found
}

func rounds(last int) (ticks []chart.Tick) {
	for round := range last + 1 {
		ticks = append(ticks, chart.Tick{Value: float64(round), Label: fmt.Sprint(round)})
	}
	return ticks
}

// inTokens converts base units to tokens, with the precision of a plot.
func inTokens(units uint64) float64 {
	t := tokens(units)
	return float64(t.Units) / math.Pow10(int(t.Decimals))
}
