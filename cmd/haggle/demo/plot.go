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

	"github.com/haggle-protocol/haggle/internal/cli/demo"
	"github.com/haggle-protocol/haggle/internal/lab/report"
	"github.com/haggle-protocol/haggle/sdk/amount"
	"github.com/haggle-protocol/haggle/sdk/localnet"
	"github.com/haggle-protocol/haggle/sdk/protocol"
)

// plot writes each round's bids, asks and effective escrow as SVG.
func plot(w io.Writer, a *demo.Account) error {
	p := report.NewPlot("Offers and the effective escrow", "round", "tokens")
	p.X.Tick.Marker = chart.ConstantTicks(rounds(len(a.Offers)))

	escrow := plotter.XYs{{X: 0, Y: inTokens(a.Created.EscrowAmount)}}
	for _, offer := range a.Offers {
		escrow = append(escrow, plotter.XY{X: float64(offer.Round), Y: inTokens(offer.EffectiveEscrow)})
	}
	worth, err := plotter.NewLine(escrow)
	if err != nil {
		return err
	}
	worth.StepStyle, worth.Color = plotter.PostStep, report.Grey
	p.Add(worth)
	p.Legend.Add("effective escrow", worth)
	if err := addOffers(p, "buyer", offersOf(a, a.Created.Buyer), report.Blue); err != nil {
		return err
	}
	if err := addOffers(p, "seller", offersOf(a, a.Created.Seller), report.Orange); err != nil {
		return err
	}
	if err := addSettlement(p, a); err != nil {
		return err
	}
	return report.WriteSVG(w, p)
}

// addSettlement marks the accepted offer, with a line at the offered price.
func addSettlement(p *chart.Plot, a *demo.Account) error {
	if a.Settled == nil {
		return nil
	}
	round, price := float64(a.Settled.TotalRounds), inTokens(a.Settled.SettledAmount)
	line, err := plotter.NewLine(plotter.XYs{{X: 0, Y: price}, {X: round, Y: price}})
	if err != nil {
		return err
	}
	line.Color, line.Dashes = report.Green, []vg.Length{vg.Points(4), vg.Points(3)}
	mark, err := plotter.NewScatter(plotter.XYs{{X: round, Y: price}})
	if err != nil {
		return err
	}
	mark.Color, mark.Shape, mark.Radius = report.Green, draw.RingGlyph{}, vg.Points(6)
	label, err := plotter.NewLabels(plotter.XYLabels{
		XYs:    plotter.XYs{{X: 0, Y: price}},
		Labels: []string{"settled for " + tokens(a.Settled.SettledAmount).String()},
	})
	if err != nil {
		return err
	}
	report.SetText(p, &label.TextStyle[0])
	label.TextStyle[0].Color, label.Offset = report.Green, vg.Point{X: vg.Points(4), Y: vg.Points(4)}
	p.Add(line, mark, label)
	p.Legend.Add("settlement", line, mark)
	return nil
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

func offersOf(a *demo.Account, party solana.PublicKey) (found []protocol.OfferSubmitted) {
	for _, offer := range a.Offers {
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

// tokens returns an amount with a symbol for readers who do not know the mint of the demonstration.
func tokens(units uint64) amount.Tokens {
	return amount.Tokens{Units: units, Decimals: localnet.Decimals, Symbol: "tokens"}
}

// inTokens converts base units to tokens, with plot precision.
func inTokens(units uint64) float64 {
	t := tokens(units)
	return float64(t.Units) / math.Pow10(int(t.Decimals))
}
