# SPDX-License-Identifier: Apache-2.0
"""The module, as a notebook uses it: fabrics, demands, predictions, plans, and a live lab."""
import asyncio
import json
import os
import pathlib
import subprocess
import threading
import time
import unittest

import numpy
import lightloom

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BIN = pathlib.Path(os.environ["LIGHTLOOM_BIN"])


def loom(*words):
    """What the command says, as JSON."""
    done = subprocess.run([BIN / "loom", "--json", *words], capture_output=True, text=True, check=True, cwd=ROOT)
    return json.loads(done.stdout)


class FabricTest(unittest.TestCase):
    def test_a_file_becomes_a_graph_in_the_direction_of_light(self):
        import networkx

        fabric = lightloom.Fabric.load(ROOT / "configs/fabrics/all_elements.yaml")
        self.assertEqual(fabric.name, "all-elements")
        graph = fabric.to_networkx()
        self.assertEqual(graph.number_of_nodes(), len(fabric.elements))
        self.assertEqual(graph.number_of_edges(), len(fabric.fibres))
        self.assertEqual(graph.nodes["wss-out-0"]["kind"], "wavelength_selective_switch")
        self.assertEqual(graph.nodes["tx-0"]["node"], "node-0")
        edge = graph.get_edge_data("wss-out-0", "panel")
        self.assertEqual(sorted(each["from_port"] for each in edge.values()), [0, 1])
        self.assertAlmostEqual(edge[0]["loss_db"], 0.3)
        # Light of group 0 comes to receivers of both groups; nothing leads back out of a receiver.
        self.assertTrue(networkx.has_path(graph, "tx-0", "rx-2"))
        self.assertEqual(graph.out_degree("rx-0"), 0)

    def test_a_template_is_made_for_so_many_nodes(self):
        fabric = lightloom.Fabric.load("oddl", nodes=8, group_size=4, channels=8)
        self.assertEqual(len(fabric.nodes), 8)
        self.assertEqual({node["group"] for node in fabric.nodes}, {0, 1})
        self.assertIn("transmitter", {device["role"] for device in fabric.devices})

    def test_what_cannot_be_loaded_is_an_error_that_says_why(self):
        with self.assertRaises(lightloom.Error) as raised:
            lightloom.Fabric.load("/nonexistent/fabric.yaml")
        self.assertIn("fabric.yaml", str(raised.exception))
        self.assertTrue(raised.exception.code)
        with self.assertRaises(lightloom.Error):
            lightloom.Fabric.load("oddl", nodes=8, group_sise=4)


class DemandTest(unittest.TestCase):
    def test_numpy_and_a_demand_share_their_memory(self):
        given = numpy.array([[0, 5], [7, 0]], dtype=numpy.uint64)
        demand = lightloom.Demand(given)
        self.assertEqual(demand.nodes, 2)
        seen = numpy.asarray(demand)
        self.assertTrue(numpy.shares_memory(seen, given))
        self.assertTrue(numpy.shares_memory(numpy.asarray(memoryview(demand._rooms)), given))
        given[0, 1] = 9
        self.assertEqual(seen[0, 1], 9)
        with self.assertRaises(ValueError):
            seen[0, 1] = 1

    def test_other_numbers_are_converted_and_what_is_no_demand_is_refused_with_its_place(self):
        self.assertEqual(numpy.asarray(lightloom.Demand([[0, 1.0], [2.0, 0]])).dtype, numpy.uint64)
        self.assertEqual(numpy.asarray(lightloom.Demand(numpy.array([[0, 3], [4, 0]]).T))[0, 1], 4)
        for bytes_, words in (([[0, -1], [1, 0]], "row 0, column 1 has -1"), ([[0, float("nan")], [1, 0]], "nan"), ([[1, 1], [1, 0]], "node 0"),
                              ([[0, 0], [0, 0]], "all of this one is 0"), ([1, 2], "this array is 2"), (numpy.zeros((2, 3)), "2 x 3"),
                              ([["a", "b"], ["c", "d"]], "array of numbers"), (3, "a single number"), ([[0]], "N from 2"),
                              ([[0, 1e30], [1, 0]], "column 1 has 1e+30"), ([[0, 1.5], [1, 0]], "column 1 has 1.5")):
            with self.subTest(bytes_=bytes_):
                with self.assertRaises(lightloom.Error) as raised:
                    lightloom.Demand(bytes_)
                self.assertEqual(raised.exception.code, "invalid_argument")
                self.assertIn(words, str(raised.exception))


class OfflineTest(unittest.TestCase):
    def test_predictions_are_those_of_the_command(self):
        found = lightloom.predict("vgg19", "ideal-switch", nodes=16)
        said = loom("predict", "--workload", "vgg19", "--fabric", "ideal-switch", "--nodes", "16")
        self.assertEqual(found["iteration_ms"], said["iteration_ms"])
        self.assertEqual(found["assumptions"], said["assumptions"])
        self.assertGreaterEqual(found["iteration_ms"], found["bound_ms"])

    def test_a_demand_of_ones_own_is_played(self):
        demand = numpy.full((4, 4), 1_000_000_000, dtype=numpy.uint64)
        numpy.fill_diagonal(demand, 0)
        found = lightloom.predict(lightloom.Demand(demand), "ideal-switch", bandwidth="100G")
        # Each sends 3 GB at 12.5 GB/s.
        self.assertAlmostEqual(found["iteration_ms"] - found["compute_ms"], 240, delta=1)

    def test_an_arena_is_a_table_and_a_picture_and_names_who_refused(self):
        arena = lightloom.arena("vgg19", nodes=8, fabrics=["ideal-switch", "oddl", "fat-tree"])
        self.assertEqual(set(arena.table.index) | set(arena.refusals), {"ideal-switch", "oddl", "fat-tree"})
        self.assertEqual(arena.table.loc["ideal-switch", "to_ideal"], 1.0)
        self.assertTrue(arena.table["iteration_ms"].is_monotonic_increasing)
        self.assertIn("<svg", arena._repr_html_())
        said = loom("arena", "--workload", "vgg19", "--nodes", "8", "--fabrics", "oddl")
        row = [each for each in said["rows"] if each["fabric"] == "oddl"][0]
        self.assertAlmostEqual(arena.table.loc["oddl", "iteration_ms"], row["iteration_ms"])

    def test_a_sweep_is_a_dataset_and_a_word_that_nobody_knows_is_an_error(self):
        import xarray

        swept = lightloom.sweep("vgg19", ["ideal-switch", "ring"], nodes=[4, 8], bandwidth=["100G", "200G"])
        self.assertIsInstance(swept, xarray.Dataset)
        self.assertEqual(dict(swept.sizes), {"fabric": 2, "nodes": 2, "bandwidth": 2})
        ideal = swept["exposed_comm_ms"].sel(fabric="ideal-switch", nodes=8)
        self.assertLess(float(ideal.sel(bandwidth="200G")), float(ideal.sel(bandwidth="100G")))
        with self.assertRaises(lightloom.Error):
            lightloom.sweep("vgg19", ["ideal-swich"], nodes=[4])
        with self.assertRaises(TypeError):
            lightloom.sweep("vgg19", "ideal-switch", nodes=[4])

    def test_a_plan_is_verified_has_circuits_and_draws_itself(self):
        fabric = lightloom.Fabric.load(ROOT / "configs/fabrics/oddl_4.yaml")
        plan = lightloom.plan("vgg19", fabric, nodes=4)
        self.assertTrue(plan.is_verified)
        self.assertGreaterEqual(len(plan.circuits), 4)
        self.assertTrue(plan._repr_svg_().lstrip().startswith("<"))
        with self.assertRaises(lightloom.Error):
            lightloom.plan("vgg19", fabric, nodes=400)

    def test_a_plan_is_on_the_fabric_that_was_loaded(self):
        fabric = lightloom.Fabric.load("oddl", nodes=8, group_size=4, channels=8)
        plan = lightloom.plan("vgg19", fabric, nodes=4)
        self.assertTrue(plan.is_verified)
        self.assertIn("verified=True", repr(plan))
        self.assertLessEqual(set(plan.circuits["transmitter"]), {element["name"] for element in fabric.elements})

    def test_another_thread_goes_on_while_a_prediction_is_made(self):
        counted, done = [0], threading.Event()

        def count():
            while not done.is_set():
                counted[0] += 1
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        before = counted[0]
        lightloom.predict("dlrm", "fat-tree", nodes=128, exact=True)
        after = counted[0]
        done.set()
        thread.join()
        # It wakes every millisecond or so; with the lock held throughout it would have once.
        self.assertGreater(after - before, 5)

    def test_bad_words_are_errors_and_nothing_worse(self):
        for call in (lambda: lightloom.predict("vgg91", "ideal-switch", nodes=4), lambda: lightloom.predict("vgg19", "nowhere", nodes=4),
                     lambda: lightloom.predict("vgg19", "ideal-switch", nodes=4, bandwidth="fast"),
                     lambda: lightloom.predict("vgg19", "ideal-switch", nodes=4, settings={"bach": 3}),
                     lambda: lightloom.plan("vgg19", "/nonexistent.yaml", nodes=4),
                     lambda: lightloom.predict("/nonexistent.npy", "ideal-switch")):
            with self.assertRaises(lightloom.Error):
                call()
        with self.assertRaises(TypeError):
            lightloom.predict("vgg19", "ideal-switch", nodes=-1)


class LiveTest(unittest.TestCase):
    def test_a_job_is_submitted_waited_for_watched_and_cancelled(self):
        scenario = ROOT / "configs/scenarios/oddl_testbed_4.yaml"

        async def session(state):
            async with lightloom.Client(state) as controller:
                self.assertEqual(await controller.jobs(), [])
                job = await controller.submit("vgg19", nodes=4, name="from-python")
                row = await controller.wait(job)
                self.assertEqual((row["name"], row["state"]), ("from-python", "lit"))
                self.assertGreaterEqual(len(await controller.circuits()), 4)
                kinds = set()
                async for event in controller.watch(poll_s=0.05):
                    kinds.add(event.kind)
                    if kinds >= {"job", "revision"}:
                        break
                await controller.cancel(job)
                with self.assertRaises(lightloom.Error) as raised:
                    await controller.job(999)
                self.assertEqual(raised.exception.code, "not_found")
                with self.assertRaises(lightloom.Error) as raised:
                    await controller.submit("vgg19", nodes=400)
                self.assertTrue(str(raised.exception))

        with lightloom.Lab(scenario, loom=str(BIN / "loom")) as lab:
            asyncio.run(session(lab.state))

    def test_where_no_controller_is_an_error_says_so(self):
        async def session():
            async with lightloom.Client("/nonexistent"):
                pass

        with self.assertRaises(lightloom.Error) as raised:
            asyncio.run(session())
        self.assertEqual(raised.exception.code, "unreachable")


if __name__ == "__main__":
    unittest.main(verbosity=2)
