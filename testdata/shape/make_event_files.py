"""Writes two event files with the programs that people use. See README.md.

    python3 make_event_files.py FOLDER
"""

import random
import sys

from tensorboard.compat.proto import event_pb2, summary_pb2, tensor_pb2, tensor_shape_pb2, types_pb2
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboardX import SummaryWriter

START = 1_786_000_000.0


def slower_at(step, slow_from):
    return 1.0 if step < slow_from else 1.25


def simple_values(folder):
    """tensorboardX: one event for each scalar, as simple_value; a text and a histogram between."""
    draw = random.Random(1)
    writer = SummaryWriter(folder, filename_suffix=".simple")
    for step in range(120):
        took = 2.0 * (1 + 0.003 * draw.gauss(0, 1)) * slower_at(step, 80)
        at = START + 2.0 * step
        writer.add_scalar("train/loss", 2.0 / (1 + step), step, walltime=at)
        writer.add_scalar("perf/step_time", took, step, walltime=at)
        writer.add_scalar("eval/step_time", 30.0, step, walltime=at)
        if step == 50:
            writer.add_text("notes", "half way", step, walltime=at)
            writer.add_histogram("weights", [draw.random() for _ in range(64)], step, walltime=at)
    writer.close()


def tensors(folder):
    """TensorFlow 2: one event for each scalar, as a tensor."""
    draw = random.Random(2)
    writer = EventFileWriter(folder, filename_suffix=".tensor")
    for step in range(60):
        rate = 53000 * (1 + 0.003 * draw.gauss(0, 1))
        tensor = tensor_pb2.TensorProto(
            dtype=types_pb2.DT_FLOAT, float_val=[rate], tensor_shape=tensor_shape_pb2.TensorShapeProto()
        )
        value = summary_pb2.Summary.Value(tag="throughput/tokens_per_sec", tensor=tensor)
        writer.add_event(
            event_pb2.Event(
                wall_time=START + 4.95 * step, step=step, summary=summary_pb2.Summary(value=[value])
            )
        )
    writer.close()


if __name__ == "__main__":
    simple_values(sys.argv[1])
    tensors(sys.argv[1])
