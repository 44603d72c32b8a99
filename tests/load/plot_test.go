package load

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// writePictures is the variable that makes the test write docs/load.svg: make pictures.
const writePictures = "HAGGLE_WRITE_PICTURES"

// docs/load.svg is drawn from docs/load.csv, written by the last run of make load.
func TestThePictureIsUpToDate(t *testing.T) {
	const picture = "../../docs/load.svg"
	data, err := os.ReadFile("../../docs/load.csv")
	require.NoError(t, err)
	curves, err := readCurves(bytes.NewReader(data))
	require.NoError(t, err)
	var drawn, again bytes.Buffer
	require.NoError(t, draw(&drawn, curves))
	require.NoError(t, writeCurves(&again, curves))
	require.Equal(t, string(data), again.String())
	if os.Getenv(writePictures) != "" {
		require.NoError(t, os.WriteFile(picture, drawn.Bytes(), 0o644))
	}
	present, err := os.ReadFile(picture)
	require.NoError(t, err)
	require.Equal(t, drawn.String(), string(present), "run make pictures")
}

func TestDamagedCurvesAreRefused(t *testing.T) {
	for _, data := range []string{"", "percent,a\n0,1\n", "percent,a\n" + string(bytes.Repeat([]byte("0,x\n"), hundred+1))} {
		_, err := readCurves(bytes.NewReader([]byte(data)))
		require.Error(t, err)
	}
}

// readCurves reads the output of writeCurves.
func readCurves(r io.Reader) ([]curve, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) != hundred+2 {
		return nil, fmt.Errorf("curves: %d rows instead of %d", len(rows), hundred+2)
	}
	var curves []curve
	for _, name := range rows[0][1:] {
		curves = append(curves, curve{name: name})
	}
	for _, row := range rows[1:] {
		for i, written := range row[1:] {
			seconds, err := strconv.ParseFloat(written, 64)
			if err != nil {
				return nil, fmt.Errorf("curves: %w", err)
			}
			curves[i].seconds = append(curves[i].seconds, seconds)
		}
	}
	return curves, nil
}
