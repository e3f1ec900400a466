// Command overhead prints how long FindPath takes, and the same call of the bare stub: overhead SERVER
package main

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	waystar "waystar.dev/client"
	pb "waystar.dev/proto/waystar/v1"
)

const (
	rounds = 20
	calls  = 200
)

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func medianUs(call func() (*pb.FindPathResponse, error)) float64 {
	times := make([]time.Duration, calls)
	for i := range times {
		start := time.Now()
		_, err := call()
		times[i] = time.Since(start)
		must(err)
	}
	slices.Sort(times)
	return float64(times[calls/2].Nanoseconds()) / 1000
}

func main() {
	client, err := waystar.New(os.Args[1], waystar.Options{})
	must(err)
	connection, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
	must(err)
	ctx, tiles, stub := context.Background(), client.Map("tiles"), pb.NewPathServiceClient(connection)
	start, goal := waystar.Cell(0, 0), waystar.Cell(15, 9)
	request := tiles.Query(start, goal)
	ours, bare := math.Inf(1), math.Inf(1)
	for range rounds {
		ours = min(ours, medianUs(func() (*pb.FindPathResponse, error) { return tiles.FindPath(ctx, start, goal) }))
		bare = min(bare, medianUs(func() (*pb.FindPathResponse, error) { return stub.FindPath(ctx, request) }))
	}
	fmt.Printf("FindPath %.0f us, the bare stub %.0f us, ratio %.2f\n", ours, bare, ours/bare)
}
