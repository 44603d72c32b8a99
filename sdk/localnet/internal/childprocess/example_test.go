//go:build unix

package childprocess_test

import (
	"fmt"
	"log"
	"os"
	"os/exec"

	"github.com/haggle-protocol/haggle/sdk/localnet/internal/childprocess"
)

// The function that waits for the command runs in the goroutine whose thread started it.
func ExampleStart() {
	command := exec.Command("echo", "ready")
	command.Stdout = os.Stdout
	ended := make(chan error, 1)
	if err := childprocess.Start(command, func() { ended <- command.Wait() }); err != nil {
		log.Fatal(err)
	}
	fmt.Println("ended:", <-ended)
	// Output:
	// ready
	// ended: <nil>
}
