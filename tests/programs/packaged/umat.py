"""OpenCV's operations on UMat. Writes all results to the file that is given."""

import sys

import cv2
import numpy as np

cv2.ocl.setUseOpenCL(True)
assert cv2.ocl.useOpenCL(), "OpenCV has no OpenCL device"
draw = np.random.default_rng(3)
gray = draw.integers(0, 256, (240, 320), dtype=np.uint8)
color = draw.integers(0, 256, (240, 320, 3), dtype=np.uint8)
real = draw.random((240, 320), dtype=np.float32)
other = draw.random((240, 320), dtype=np.float32)
results = []
g, c, r, o = (cv2.UMat(each) for each in (gray, color, real, other))
kernel = np.ones((3, 3), np.float32) / 9
turn = cv2.getRotationMatrix2D((160, 120), 30, 0.8)
view = np.float32([[1, 0.1, 3], [0.05, 1, 2], [1e-4, 2e-4, 1]])
mx, my = np.meshgrid(np.arange(320, dtype=np.float32), np.arange(240, dtype=np.float32))
OPERATIONS = {
    "blur": lambda: cv2.blur(g, (5, 5)), "gaussian": lambda: cv2.GaussianBlur(c, (7, 7), 1.5),
    "median": lambda: cv2.medianBlur(g, 5), "bilateral": lambda: cv2.bilateralFilter(g, 5, 40, 40),
    "filter": lambda: cv2.filter2D(r, -1, kernel), "sobel": lambda: cv2.Sobel(g, cv2.CV_16S, 1, 0),
    "scharr": lambda: cv2.Scharr(g, cv2.CV_16S, 0, 1), "laplacian": lambda: cv2.Laplacian(g, cv2.CV_16S, ksize=3),
    "erode": lambda: cv2.erode(g, np.ones((3, 3), np.uint8)), "dilate": lambda: cv2.dilate(c, np.ones((5, 5), np.uint8)),
    "opening": lambda: cv2.morphologyEx(g, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8)),
    "resize": lambda: cv2.resize(c, (160, 120)), "enlarge": lambda: cv2.resize(g, (500, 400), interpolation=cv2.INTER_LINEAR),
    "area": lambda: cv2.resize(g, (100, 75), interpolation=cv2.INTER_AREA),
    "affine": lambda: cv2.warpAffine(c, turn, (320, 240)), "perspective": lambda: cv2.warpPerspective(g, view, (320, 240)),
    "remap": lambda: cv2.remap(g, cv2.UMat(mx[:, ::-1].copy()), cv2.UMat(my), cv2.INTER_LINEAR),
    "to gray": lambda: cv2.cvtColor(c, cv2.COLOR_BGR2GRAY), "to hsv": lambda: cv2.cvtColor(c, cv2.COLOR_BGR2HSV),
    "to yuv": lambda: cv2.cvtColor(c, cv2.COLOR_BGR2YUV), "to lab": lambda: cv2.cvtColor(c, cv2.COLOR_BGR2Lab),
    "threshold": lambda: cv2.threshold(g, 100, 255, cv2.THRESH_BINARY)[1],
    "adaptive": lambda: cv2.adaptiveThreshold(g, 255, cv2.ADAPTIVE_THRESH_MEAN_C, cv2.THRESH_BINARY, 7, 2),
    "add": lambda: cv2.add(r, o), "subtract": lambda: cv2.subtract(g, cv2.flip(g, 1)), "multiply": lambda: cv2.multiply(r, o),
    "divide": lambda: cv2.divide(r, cv2.add(o, 1)), "weighted": lambda: cv2.addWeighted(r, 0.3, o, 0.7, 0.1),
    "difference": lambda: cv2.absdiff(r, o), "and": lambda: cv2.bitwise_and(g, cv2.flip(g, 0)), "not": lambda: cv2.bitwise_not(c),
    "compare": lambda: cv2.compare(r, o, cv2.CMP_GT), "in range": lambda: cv2.inRange(g, 20, 90),
    "exp": lambda: cv2.exp(r), "log": lambda: cv2.log(cv2.add(r, 1)), "pow": lambda: cv2.pow(r, 2.5), "sqrt": lambda: cv2.sqrt(r),
    "magnitude": lambda: cv2.magnitude(r, o), "phase": lambda: cv2.phase(r, o),
    "gemm": lambda: cv2.gemm(cv2.UMat(real[:, :240].copy()), cv2.UMat(other[:, :240].copy()), 1, None, 0),
    "dft": lambda: cv2.dft(r, flags=cv2.DFT_COMPLEX_OUTPUT), "integral": lambda: cv2.integral(g),
    "pyramid down": lambda: cv2.pyrDown(g), "pyramid up": lambda: cv2.pyrUp(g), "canny": lambda: cv2.Canny(g, 50, 150),
    "table": lambda: cv2.LUT(g, np.arange(255, -1, -1, dtype=np.uint8)), "flip": lambda: cv2.flip(c, -1),
    "transposed": lambda: cv2.transpose(g), "repeated": lambda: cv2.repeat(g, 2, 2), "merged": lambda: cv2.merge([g, g, g]),
    "split": lambda: cv2.split(c)[1], "border": lambda: cv2.copyMakeBorder(g, 3, 4, 5, 6, cv2.BORDER_REFLECT),
    "histogram": lambda: cv2.calcHist([g], [0], None, [256], [0, 256]), "equalised": lambda: cv2.equalizeHist(g),
    "clahe": lambda: cv2.createCLAHE(2.0, (8, 8)).apply(g), "match": lambda: cv2.matchTemplate(g, cv2.UMat(gray[20:40, 30:60]), cv2.TM_CCORR),
    "corners": lambda: cv2.cornerHarris(g, 2, 3, 0.04), "eigen": lambda: cv2.cornerMinEigenVal(g, 3),
    "converted": lambda: cv2.convertScaleAbs(r, alpha=200), "normed": lambda: cv2.normalize(r, None, 0, 1, cv2.NORM_MINMAX),
    "reduced": lambda: cv2.reduce(r, 0, cv2.REDUCE_MAX), "mean": lambda: np.float64(cv2.mean(g)),
    "deviation": lambda: cv2.meanStdDev(g)[1], "extremes": lambda: np.float64(cv2.minMaxLoc(r)[:2]),
    "count": lambda: np.float64(cv2.countNonZero(g)), "norm": lambda: np.float64(cv2.norm(g, cv2.NORM_L1)),
    "sum": lambda: np.float64(cv2.sumElems(g)),
    "denoised": lambda: cv2.fastNlMeansDenoising(g, None, 5, 5, 11),
    "flow": lambda: cv2.calcOpticalFlowFarneback(g, cv2.flip(g, 1), None, 0.5, 2, 9, 2, 5, 1.1, 0),
}
with open(sys.argv[1], "wb") as file:
    for name, operation in OPERATIONS.items():
        result = operation()
        result = np.ascontiguousarray(result.get() if isinstance(result, cv2.UMat) else result)
        file.write(result.tobytes())
        print(name, result.shape)
