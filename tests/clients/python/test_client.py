"""Calls, watches and streams of the client for threads."""

import signal
import subprocess
import tempfile
import unittest
import unittest.mock

import grpc
from google.protobuf.duration_pb2 import Duration
from servers import BIN, ROWS, TIMEOUT, FaultyServer, Server, ServerTest

import waystar
from waystar import block, cells, disc, line, messages, move_obstacle, places, polygon, put_obstacle, rect
from waystar import remove_obstacle, unblock, union

RETRY_SOON = messages.RetryInfo(retry_delay=Duration(nanos=1_000_000))
QUEUE_FULL = messages.ErrorInfo(domain="waystar", reason="QUEUE_FULL")
BUSY = (grpc.StatusCode.RESOURCE_EXHAUSTED, "busy", QUEUE_FULL, RETRY_SOON)
CLOSED = (grpc.StatusCode.INTERNAL, "Received RST_STREAM: Session closed with error code 2")
GONE = (grpc.StatusCode.UNAVAILABLE, "gone")


class CallTest(ServerTest):
    def test_paths(self):
        answer = self.arena.find_path((0, 0), (3, 0))
        self.assertEqual(answer.outcome, messages.OUTCOME_FOUND)
        self.assertEqual(places(answer.path), [(0, 0), (1, 0), (2, 0), (3, 0)])
        answer = self.arena.find_path((0.5, 0.5, 0), (2.5, 0.5, 0), with_summary=True)
        self.assertEqual((answer.cost, answer.summary.length), (2, 2))
        answer = self.arena.find_path((0, 0), [(9, 9), (0, 2)], path_form=messages.PATH_FORM_CORNERS)
        self.assertEqual((answer.goal_index, places(answer.path)), (1, [(0, 0), (0, 2)]))

    def test_nodes(self):
        a = {"id": "a"}
        b = {"id": "b", "position": {"x": 3}}
        edges = [{"edge": {"from": "a", "to": "b"}}]
        sea = self.client.create_map("sea", graph={"nodes": [a, b], "edges": edges})
        self.assertEqual(places(sea.find_path("a", "b").path), ["a", "b"])

    def test_refusals_have_a_reason_and_a_field(self):
        error = self.assert_fails("OFF_MAP", "goals[0]", self.arena.find_path, (0, 0), (99, 0))
        self.assertEqual(error.code, grpc.StatusCode.OUT_OF_RANGE)
        self.assertIn("OUT_OF_RANGE OFF_MAP (goals[0]): ", str(error))
        self.assert_fails("MAP_NOT_FOUND", "map", self.client.map("nowhere").find_path, (0, 0), (1, 0))

    def test_updates(self):
        updated = self.arena.update(put_obstacle("crate", rect(0, 7, 10, 3)), block(cells((0, 1)), disc(1, 1, 0)))
        self.assertEqual(updated.changed_cells, 32)
        self.assertEqual(self.arena.find_path((0, 0), (9, 0)).outcome, messages.OUTCOME_UNREACHABLE)
        self.arena.update(move_obstacle("crate", 3, 0), unblock(rect(0, 1, 2, 1)))
        self.assertEqual(self.arena.find_path((0, 0), (0, 9)).outcome, messages.OUTCOME_FOUND)
        self.arena.update(remove_obstacle("crate"))
        self.assertEqual(self.arena.find_path((0, 0), (9, 0)).outcome, messages.OUTCOME_FOUND)
        shape = union(polygon((0, 0), (2, 0), (0, 2)), line((3, 0), (3, 4)))
        self.assertEqual(self.arena.update(put_obstacle("tent", shape, lifetime=1000)).changed_cells, 11)

    def test_an_update_is_applied_once(self):
        first = self.arena.update(block(cells((0, 1))), request_id="mine")
        again = self.arena.update(block(cells((0, 1))), request_id="mine")
        self.assertTrue(again.already_applied)
        self.assertEqual(again.version, first.version)
        update, other = self.arena.update, unblock(cells((0, 1)))
        self.assert_fails("REQUEST_ID_REUSED", "request_id", update, other, request_id="mine")
        old = messages.Version(epoch=first.version.epoch, revision=1)
        self.assert_fails("STALE_REVISION", "expected_version", update, other, expected_version=old)

    def test_moves(self):
        moves = [((0, 0), (1, 0), 1.0), ((0, 0), (3, 0), 1.0), ((0, 0), (3, 0), 1.0, 9.0)]
        judged = self.arena.check_moves(moves, speed=1, time_tolerance=0.1)
        verdicts = [messages.MOVE_VERDICT_OK, messages.MOVE_VERDICT_TOO_FAST, messages.MOVE_VERDICT_OK]
        self.assertEqual([each.verdict for each in judged.results], verdicts)

    def test_other_calls_take_their_messages(self):
        listed = self.client.call(messages.ListMapsRequest())
        self.assertEqual([each.map for each in listed.maps], ["arena"])
        self.client.call(messages.DeleteMapRequest(map="arena"))
        self.assert_fails("MAP_NOT_FOUND", "map", self.arena.find_path, (0, 0), (1, 0))

    def test_a_replaced_map_is_read_all_the_same(self):
        self.arena.update(block(cells((0, 1))))
        other = self.connect()
        other.call(messages.DeleteMapRequest(map="arena"))
        other.create_map("arena", rows=["..."])
        self.assertEqual(self.arena.find_path((0, 0), (2, 0)).cost, 2)


class FaultTest(ServerTest):
    def test_a_server_that_is_away_comes_back(self):
        impatient = self.connect(wait_for_ready=False).map("arena")
        for revision, how in ((2, signal.SIGKILL), (3, signal.SIGTERM)):
            self.server.stop(how)
            error = self.assert_fails("", "", impatient.find_path, (0, 0), (1, 0))
            self.assertEqual(error.code, grpc.StatusCode.UNAVAILABLE)
            self.server.start()
            self.assertEqual(self.arena.find_path((0, 0), (1, 0)).cost, 1)
            self.assertEqual(self.arena.update(block(cells((0, revision)))).version.revision, revision)

    def test_a_server_that_does_not_answer(self):
        self.server.pause()
        error = self.assert_fails("", "", self.arena.find_path, (0, 0), (1, 0), timeout=0.2)
        self.assertEqual(error.code, grpc.StatusCode.DEADLINE_EXCEEDED)
        self.server.go_on()
        self.assertEqual(self.arena.find_path((0, 0), (1, 0)).cost, 1)

    def test_several_servers(self):
        other = Server()
        self.addCleanup(other.close)
        self.connect(other.target).create_map("arena", rows=ROWS)
        both = self.connect(f"{self.server.target},{other.target}")
        self.assert_fails("", "", both.map("arena").update, block(cells((0, 1))))
        self.server.stop(signal.SIGTERM)
        for _ in range(20):
            self.assertEqual(both.map("arena").find_path((0, 0), (1, 0)).cost, 1)


class RetryTest(unittest.TestCase):
    def ask(self, *errors, **options):
        self.server = FaultyServer(*errors)
        self.addCleanup(self.server.close)
        client = waystar.Client(self.server.target, timeout=TIMEOUT, **options)
        self.addCleanup(client.close)
        return client

    def test_queries(self):
        self.ask(BUSY, CLOSED, BUSY).map("arena").find_path((0, 0), (1, 0))
        self.assertEqual(len(self.server.requests), 4)

    def test_updates_keep_their_id(self):
        self.ask(GONE, BUSY, CLOSED).map("arena").update(block(cells((0, 0))))
        ids = {(each.request_id, each.request_time.ToNanoseconds()) for each in self.server.requests}
        self.assertEqual((len(self.server.requests), len(ids)), (4, 1))

    def test_what_is_not_retried(self):
        for request, error, options in (
            (messages.FindPathRequest(), BUSY, {"retry": False}),
            (messages.FindPathRequest(), (grpc.StatusCode.RESOURCE_EXHAUSTED, "too large"), {}),
            (messages.UpdateMapRequest(), GONE, {}),
            (messages.DeleteMapRequest(), BUSY, {}),
        ):
            with self.assertRaises(waystar.WaystarError) as caught:
                self.ask(error, **options).call(request)
            self.assertEqual(caught.exception.code, error[0])
            self.assertEqual(len(self.server.requests), 1)

    def test_retries_end(self):
        with self.assertRaises(waystar.WaystarError) as caught:
            self.ask(*[BUSY] * 9).map("arena").find_path((0, 0), (1, 0))
        self.assertEqual((caught.exception.reason, caught.exception.retry_delay), ("QUEUE_FULL", 0.001))
        self.assertEqual(len(self.server.requests), 4)

    def test_no_retry_when_the_client_is_closed(self):
        client = self.ask(BUSY)
        with unittest.mock.patch("time.sleep", lambda _: client.close()):
            with self.assertRaises(waystar.WaystarError) as caught:
                client.map("arena").find_path((0, 0), (1, 0))
        self.assertEqual(caught.exception.code, grpc.StatusCode.CANCELLED)

    def test_no_retry_after_the_deadline(self):
        later = messages.RetryInfo(retry_delay=Duration(seconds=100))
        with self.assertRaises(waystar.WaystarError):
            self.ask((*BUSY[:3], later)).map("arena").find_path((0, 0), (1, 0))
        self.assertEqual(len(self.server.requests), 1)

    def test_own_changes_are_asked_for(self):
        client = self.ask()
        version = messages.Version(epoch=7, revision=3)
        client.note_change("arena", version)
        client.note_change("arena", messages.Version(epoch=7, revision=2))
        client.map("arena").find_path((0, 0), (1, 0))
        client.map("arena").find_path((0, 0), (1, 0), view={"least_version": {}})
        client.map("other").find_path((0, 0), (1, 0))
        asked = [each.view.least_version for each in self.server.requests]
        self.assertEqual(asked, [version, messages.Version(), messages.Version()])


class SecurityTest(unittest.TestCase):
    def connect(self, target, **options):
        client = waystar.Client(target, timeout=TIMEOUT, wait_for_ready=True, **options)
        self.addCleanup(client.close)
        return client

    def start(self, *flags):
        server = Server(*flags)
        self.addCleanup(server.close)
        return server

    def test_tokens(self):
        lines = subprocess.check_output([BIN / "waystar", "token", "game", "admin:*"], text=True)
        token, entry = lines.splitlines()[1:4:2]
        with tempfile.NamedTemporaryFile("w") as tokens:
            tokens.write(entry + "\n")
            tokens.flush()
            server = self.start(f"--tokens_file={tokens.name}")
            arena = self.connect(server.target, token=token.strip()).create_map("arena", rows=["..."])
            self.assertEqual(arena.find_path((0, 0), (2, 0)).cost, 2)
            for wrong, reason in (("wrong", "BAD_TOKEN"), ("", "MISSING_TOKEN")):
                stranger = self.connect(server.target, token=wrong).map("arena")
                with self.assertRaises(waystar.WaystarError) as caught:
                    stranger.find_path((0, 0), (2, 0))
                self.assertEqual(caught.exception.reason, reason)
                with stranger.follow_agents() as agents:
                    self.assertTrue(agents.wait_for_news(TIMEOUT))
                    with self.assertRaises(waystar.WaystarError):
                        agents.flush()
                with stranger.stream_find_path() as stream:
                    self.assertEqual(stream.find_path((0, 0), (1, 0)).exception(TIMEOUT).reason, reason)
                with stranger.watch() as watch, self.assertRaises(waystar.WaystarError):
                    next(watch)

    def test_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            key, cert = f"{folder}/key.pem", f"{folder}/cert.pem"
            command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
            command += ["-noenc", "-subj", "/CN=waystar", "-addext", "subjectAltName=DNS:waystar.test"]
            command += ["-keyout", key, "-out", cert]
            subprocess.run(command, stderr=subprocess.DEVNULL, check=True)
            server = self.start(f"--tls_cert={cert}", f"--tls_key={key}")
            client = self.connect(server.target, tls=True, ca_file=cert, server_name="waystar.test")
            self.assertEqual(client.create_map("arena", rows=["..."]).find_path((0, 0), (2, 0)).cost, 2)

    def test_options_that_are_refused(self):
        for target, options in (
            ("http://127.0.0.1", {}),
            ("", {}),
            ("10.0.0.1,a.example", {}),
            ("game.example:7450", {"token": "secret"}),
            ("localhost", {"token": "two words"}),
            ("localhost", {"ca_file": "x.pem"}),
            ("10.0.0.1,10.0.0.2", {"tls": True}),
        ):
            with self.assertRaises(ValueError, msg=target):
                waystar.Client(target, **options)

    def test_targets(self):
        for target, name, is_several, is_here in (
            ("localhost", "localhost:7450", False, True),
            ("127.0.0.2:80", "127.0.0.2:80", False, True),
            ("[::1]:80", "[::1]:80", False, True),
            ("unix:server.sock", "unix:server.sock", False, True),
            ("game.example", "game.example:7450", False, False),
            ("10.0.0.1,10.0.0.2:80", "ipv4:10.0.0.1:7450,10.0.0.2:80", True, False),
            ("ipv4:127.0.0.1:1,127.0.0.1:2", "ipv4:127.0.0.1:1,127.0.0.1:2", True, True),
            ("dns:///game.example:80", "dns:///game.example:80", True, False),
            ("xds:///game", "xds:///game", True, False),
        ):
            client = self.connect(target)
            self.assertEqual(client.target[:3], (name, is_several, is_here))
