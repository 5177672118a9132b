// One static binary with the parts of a Kubernetes control plane that the contract suites need.
// The first argument names the part; the rest are that part's own flags. Every part ends when its
// standard input ends, so that none outlives the test run that started it, even one that was killed.
package main

import (
	"fmt"
	"io"
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
	"k8s.io/component-base/cli"
	apiserver "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func main() {
	if len(os.Args) < 2 {
		fail("name a part: etcd, kube-apiserver, kube-controller-manager or kube-scheduler")
	}
	go endWithStandardInput()
	part := os.Args[1]
	// Each part parses os.Args by itself and must see its own name first.
	os.Args = append([]string{part}, os.Args[2:]...)
	switch part {
	case "etcd":
		etcdmain.Main(os.Args)
	case "kube-apiserver":
		os.Exit(cli.Run(apiserver.NewAPIServerCommand()))
	case "kube-controller-manager":
		os.Exit(cli.Run(controllermanager.NewControllerManagerCommand()))
	case "kube-scheduler":
		os.Exit(cli.Run(scheduler.NewSchedulerCommand()))
	default:
		fail(fmt.Sprintf("unknown part %q", part))
	}
}

func endWithStandardInput() {
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "control-plane: "+message)
	os.Exit(2)
}
